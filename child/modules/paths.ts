import { isAbsolute, relative, resolve, sep } from 'node:path';

/**
 * The absolute path of a module named in an index, or undefined when it leaves the pack's folder: an index is a
 * tenant's input (E7). Symbolic links are followed only when the module is loaded; pack code can open any file anyway.
 */
export function insideRoot(root: string, modulePath: string): string | undefined {
  if (modulePath === '' || isAbsolute(modulePath) || modulePath.includes('\0')) return undefined;
  const path = resolve(root, modulePath);
  const inside = relative(root, path);
  return inside === '' || inside === '..' || inside.startsWith(`..${sep}`) ? undefined : path;
}

/** Whether Node 20 cannot load the file as it is, because it is TypeScript. */
export function isTypeScript(path: string): boolean {
  return /\.[cm]?tsx?$/.test(path) && !/\.d\.[cm]?ts$/.test(path);
}
