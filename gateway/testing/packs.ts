import { fileURLToPath } from 'node:url';

/** Packs that come with packgate, each a folder to be hosted by a gateway. */
export const packs = {
  /**
   * `echo.say` answers its input `{ message }`, `echo.wait` `{ ms }` after that long, `echo.fail` throws, `echo.whoami`
   * says which tenant and run it was called for. Its check `echo.short` passes what is no longer than `{ max }`.
   */
  echo: folder('echo'),
} as const;

function folder(name: string): string {
  return fileURLToPath(new URL(`./packs/${name}`, import.meta.url));
}
