import { access, constants, open, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { LaunchSpec } from '../runtimes/launchSpec.ts';

/** What a start is refused for when the machine, not the program, is at its end: why, and what to do. */
const LIMITS: Readonly<Record<string, string>> = {
  E2BIG: 'its environment and arguments are larger than this machine takes. Shorten env: of the deployment.',
  EAGAIN: 'no further process may run here. Raise the limit of processes, or host less on this machine.',
  EMFILE: 'the gateway has no descriptor left. Raise its limit of open files.',
  ENFILE: 'this machine has no descriptor left. Raise fs.file-max, or close what holds them.',
  ENOMEM: 'this machine has no memory left for it.',
  ERR_INVALID_ARG_VALUE:
    'a NUL stands in its command, its arguments or its environment. Remove it from the configuration.',
};

/** Where programs are looked for without a PATH, as the C library does. */
const DEFAULT_PATH = '/bin:/usr/bin';

/** A script's first line is read that far by the kernel, too. */
const HEAD_BYTES = 256;

/** Interpreters that are scripts themselves; the kernel follows as many. */
const MAX_SCRIPTS = 4;

/** Why a program could not be started, from the error of its start: which program, what is wrong, what to do. */
export async function spawnProblem(spec: LaunchSpec, error: NodeJS.ErrnoException): Promise<string> {
  const { code = '', message } = error;
  const limit = LIMITS[code];
  if (limit !== undefined) return `${spec.command} cannot be started: ${limit} (${code})`;
  return (await obstacle(spec)) ?? `${spec.command} cannot be started: ${message}`;
}

/**
 * What stands in the way of a launch spec, as far as can be seen by looking; undefined: nothing. An error number alone
 * says too little: `ENOENT` is a missing program, its missing interpreter, or the missing folder it is started in.
 */
export async function obstacle({ command, cwd, env }: LaunchSpec): Promise<string | undefined> {
  const folder = await folderTrouble(cwd);
  if (folder !== undefined) {
    return `${command} cannot be started: its folder ${cwd} ${folder}. Restore it, or change path: of the deployment.`;
  }
  const trouble = await programTrouble(command, { cwd, path: env.PATH ?? DEFAULT_PATH }, MAX_SCRIPTS);
  return trouble === undefined ? undefined : `${command} cannot be started: ${trouble}`;
}

async function folderTrouble(folder: string): Promise<string | undefined> {
  try {
    if (!(await stat(folder)).isDirectory()) return 'is no folder (ENOTDIR)';
    await access(folder, constants.X_OK);
    return undefined;
  } catch (error) {
    return codeOf(error) === 'EACCES' ? 'may not be entered (EACCES)' : `does not exist (${codeOf(error)})`;
  }
}

interface Place {
  readonly cwd: string;
  readonly path: string;
}

async function programTrouble(command: string, place: Place, scriptsLeft: number): Promise<string | undefined> {
  const file = await locate(command, place);
  if (file === undefined) {
    const where = command.includes('/') ? 'it does not exist' : `no folder of PATH (${place.path}) has it`;
    return `${where} (ENOENT). Install it, or correct the path in the configuration.`;
  }
  try {
    if ((await stat(file)).isDirectory()) return `${file} is a folder (EACCES).`;
    await access(file, constants.X_OK);
  } catch {
    return `${file} may not be executed (EACCES). Make it executable for the gateway's user (chmod +x), on a file system that allows it.`;
  }
  const head = await headOf(file);
  return head === undefined ? undefined : headTrouble(head, file, place, scriptsLeft);
}

/** What the first bytes of an executable file say against it. */
async function headTrouble(head: Buffer, file: string, place: Place, scriptsLeft: number): Promise<string | undefined> {
  if (head.toString('latin1', 0, 2) === '#!') {
    const [line = ''] = head.toString('utf8', 2).split('\n');
    const [interpreter = '', argument] = line.trimStart().split(/[ \t]+/);
    // `#!/usr/bin/env python3`: what is meant is the second word.
    const isEnv = interpreter.endsWith('/env') && argument !== undefined && !/^-|=/.test(argument);
    const meant = isEnv ? argument : interpreter;
    if (scriptsLeft === 0) return `${file} names an interpreter that is a script, and so on, too often (ELOOP).`;
    const trouble = await programTrouble(meant, place, scriptsLeft - 1);
    if (trouble === undefined) return undefined;
    const ending = meant.includes('\r') ? ' The line ends with a carriage return; it must not.' : '';
    return `the interpreter ${JSON.stringify(meant)} of ${file} is missing or unusable: ${trouble}${ending}`;
  }
  if (isElf(head)) {
    const own = await headOf(process.execPath);
    if (own === undefined || !isElf(own) || machineOf(own) === machineOf(head)) return undefined;
    return `${file} is a program for another kind of machine (ENOEXEC). Install the one for this machine.`;
  }
  // A script without `#!` is run by the shell; what is no text cannot be meant for it.
  if (!head.includes(0) && isText(head)) return undefined;
  return `${file} is neither a program of this machine nor a script (ENOEXEC).`;
}

/** The file that a command names, found as a start finds it. */
async function locate(command: string, { cwd, path }: Place): Promise<string | undefined> {
  if (command.includes('/')) return (await exists(resolve(cwd, command))) ? resolve(cwd, command) : undefined;
  let found: string | undefined;
  for (const folder of path.split(delimiter)) {
    const file = join(isAbsolute(folder) ? folder : resolve(cwd, folder), command);
    if (!(await exists(file))) continue;
    found ??= file;
    if (await isExecutable(file)) return file;
  }
  return found;
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    (error: unknown) => codeOf(error) === 'EACCES',
  );
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Undefined where it cannot be read: a program may be executable all the same. */
async function headOf(file: string): Promise<Buffer | undefined> {
  const handle = await open(file).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } catch {
    return undefined;
  } finally {
    await handle.close();
  }
}

function isElf(head: Buffer): boolean {
  return head.length >= 20 && head.toString('latin1', 0, 4) === '\x7fELF';
}

/** Word size, byte order and processor of an ELF file. */
function machineOf(head: Buffer): string {
  return `${head.toString('hex', 4, 6)}-${head.toString('hex', 18, 20)}`;
}

/** The last character may be cut by the end of what was read. */
function isText(head: Buffer): boolean {
  const text = head.toString('utf8');
  const firstBad = text.indexOf('\ufffd');
  return firstBad === -1 || firstBad >= text.length - 3;
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}
