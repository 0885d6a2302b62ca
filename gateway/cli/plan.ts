import { isAbsolute, relative } from 'node:path';
import type {
  AdminSettings,
  Configuration,
  DeploymentSettings,
  RuntimeSettings,
  TokenGrant,
} from '../config/configuration.ts';
import { listenText } from '../config/listen.ts';
import { serviceName } from '../config/serviceName.ts';
import { table } from './table.ts';

/** What a configuration would run, for people. Paths below `cwd` are shown relative to it. */
export function planText(configuration: Configuration, cwd: string): string {
  const { listen, admin, stateDir, memoryBytes, boots, tokens, deployments } = configuration;
  const rows = deployments.map((deployment) => {
    const { tenantId, name, isDefault, runtime, path, index } = deployment;
    const isOneOfSeveral = deployments.filter((other) => other.tenantId === tenantId).length > 1;
    return [
      tenantId,
      isOneOfSeveral && isDefault ? `${name} (default)` : name,
      runtime.kind,
      shortPath(path, cwd),
      index === undefined ? 'built at start' : shortPath(index, cwd),
      deployment.start,
      recycleText(deployment.recycle),
      hostsOf(deployment).join(', ') || '-',
    ];
  });
  return [
    `listen    ${listenText(listen)}`,
    `admin     ${adminText(admin, cwd)}`,
    `stateDir  ${shortPath(stateDir, cwd)}`,
    `memory    ${Number.isFinite(memoryBytes) ? sizeText(memoryBytes) : 'no budget'}`,
    `boots     ${boots} at once`,
    '',
    ...table(['tenant', 'deployment', 'runtime', 'pack', 'index', 'start', 'recycle', 'hosts'], rows),
    '',
    ...table(
      ['token', 'opens'],
      tokens.map((token, index) => [`${index + 1}`, opensText(token)]),
    ),
    '',
  ].join('\n');
}

/** The same as data. Durations in milliseconds, null for never and for no budget; of the environment only the names. */
export function planData(configuration: Configuration): object {
  const { file, listen, admin, stateDir, bodiesBytes, memoryBytes, boots, tokens, deployments, sources } =
    configuration;
  return {
    file,
    listen: listenText(listen),
    admin: { listen: listenText(admin.listen), token: admin.tokenSha256 !== undefined },
    stateDir,
    bodiesBytes,
    memoryBytes: orNull(memoryBytes),
    boots,
    sources,
    tokens: tokens.map(({ tenants, deployment }) => ({ tenants, deployment: deployment ?? null })),
    deployments: deployments.map(deploymentData),
  };
}

function deploymentData(settings: DeploymentSettings): object {
  const { tenantId, name, isDefault, hosts, deploymentId, path, index, indexHash, runtime, env, ...rest } = settings;
  const { idleMs, recycle, ...others } = rest;
  return {
    tenant: tenantId,
    deployment: name,
    default: isDefault,
    hosts,
    deploymentId: deploymentId ?? null,
    serviceName: deploymentId === undefined ? null : serviceName(tenantId, deploymentId),
    runtime: runtime.kind,
    command: argvOf(runtime),
    path,
    index: index ?? null,
    indexHash: indexHash ?? null,
    env: Object.keys(env).toSorted(),
    ...others,
    idleMs: orNull(idleMs),
    recycle: {
      ageMs: orNull(recycle.ageMs),
      calls: orNull(recycle.calls),
      memoryBytes: orNull(recycle.memoryBytes),
    },
  };
}

/** A program and its own arguments; `command` may hold a secret there, so of it only the program is shown. */
function argvOf(runtime: RuntimeSettings): string | undefined {
  switch (runtime.kind) {
    case 'node':
      return runtime.node;
    case 'python':
      return runtime.python;
    case 'command':
      return runtime.command[0];
  }
}

/** Hosts that lead to a deployment, the service name's among them (G2). */
function hostsOf({ tenantId, hosts, deploymentId }: DeploymentSettings): string[] {
  return deploymentId === undefined ? [...hosts] : [...hosts, `${serviceName(tenantId, deploymentId)}{-,.}*`];
}

function adminText({ listen, tokenSha256 }: AdminSettings, cwd: string): string {
  const where = listen.kind === 'unix' ? `unix:${shortPath(listen.path, cwd)}` : listenText(listen);
  return tokenSha256 === undefined ? `${where} (its owner alone)` : `${where} (with a token)`;
}

/** When a process is replaced: `10000 calls, 512MiB`. */
function recycleText({ ageMs, calls, memoryBytes }: DeploymentSettings['recycle']): string {
  const limits = [
    ...(Number.isFinite(ageMs) ? [`${ageMs / 1000}s`] : []),
    ...(Number.isFinite(calls) ? [`${calls} calls`] : []),
    ...(Number.isFinite(memoryBytes) ? [sizeText(memoryBytes)] : []),
  ];
  return limits.join(', ') || '-';
}

function sizeText(bytes: number): string {
  return `${Number((bytes / 2 ** 20).toFixed(1))}MiB`;
}

/** JSON has no infinity. */
function orNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

function opensText({ tenants, deployment }: TokenGrant): string {
  const who = tenants === 'any' ? 'any tenant' : tenants.join(', ');
  return deployment === undefined ? who : `${who}, only deployment ${deployment}`;
}

function shortPath(path: string, cwd: string): string {
  const short = relative(cwd, path);
  if (short === '') return '.';
  return short.startsWith('..') || isAbsolute(short) ? path : short;
}
