import { join, sep } from 'node:path';
import type { DeploymentSettings } from '../config/configuration.ts';

/**
 * The settings of a pack that is served from a copy of its folder: module root, working folder and home are the copy,
 * and so is a program of the pack's own in its command. What runs a Node or Python pack stays where it is installed.
 */
export function relocate(settings: DeploymentSettings, folder: string): DeploymentSettings {
  const { path, runtime } = settings;
  if (runtime.kind !== 'command') return { ...settings, path: folder };
  const command = runtime.command.map((part) =>
    part.startsWith(path + sep) ? join(folder, part.slice(path.length)) : part,
  );
  return { ...settings, path: folder, runtime: { ...runtime, command } };
}
