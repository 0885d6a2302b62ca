import { readFile } from 'node:fs/promises';

/** The next artifact version: the UTC date and a number that grows within the day, told by the index it replaces (E16). */
export async function nextArtifactVersion(outputPath: string, now: Date): Promise<string> {
  const today = now.toISOString().slice(0, 10).replaceAll('-', '');
  const previous = /^(\d{8})\.(\d+)$/.exec(await previousVersion(outputPath));
  const number = previous?.[1] === today ? Number(previous[2]) + 1 : 1;
  return `${today}.${number}`;
}

async function previousVersion(path: string): Promise<string> {
  try {
    const index = JSON.parse(await readFile(path, 'utf8')) as { artifactVersion?: unknown } | null;
    return String(index?.artifactVersion);
  } catch {
    // No index yet, or none that can be read.
    return '';
  }
}
