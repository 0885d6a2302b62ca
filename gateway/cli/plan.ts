import { isAbsolute, relative } from 'node:path';
import type { Configuration, DeploymentSettings, RuntimeSettings, TokenGrant } from '../config/configuration.ts';
import { listenText } from '../config/listen.ts';
import { serviceName } from '../config/serviceName.ts';
import { table } from './table.ts';

/** What a configuration would run, for people. Paths below `cwd` are shown relative to it. */
export function planText(configuration: Configuration, cwd: string): string {
  const { listen, stateDir, tokens, deployments } = configuration;
  const rows = deployments.map((deployment) => {
    const { tenantId, name, isDefault, runtime, path, index } = deployment;
    const isOneOfSeveral = deployments.filter((other) => other.tenantId === tenantId).length > 1;
    return [
      tenantId,
      isOneOfSeveral && isDefault ? `${name} (default)` : name,
      runtime.kind,
      shortPath(path, cwd),
      index === undefined ? 'built at start' : shortPath(index, cwd),
      hostsOf(deployment).join(', ') || '-',
    ];
  });
  return [
    `listen    ${listenText(listen)}`,
    `stateDir  ${shortPath(stateDir, cwd)}`,
    '',
    ...table(['tenant', 'deployment', 'runtime', 'pack', 'index', 'hosts'], rows),
    '',
    ...table(
      ['token', 'opens'],
      tokens.map((token, index) => [`${index + 1}`, opensText(token)]),
    ),
    '',
  ].join('\n');
}

/** The same as data. Durations in milliseconds, `idleMs: null` for never; of the environment only the names. */
export function planData({ file, listen, stateDir, bodiesBytes, tokens, deployments }: Configuration): object {
  return {
    file,
    listen: listenText(listen),
    stateDir,
    bodiesBytes,
    tokens: tokens.map(({ tenants, deployment }) => ({ tenants, deployment: deployment ?? null })),
    deployments: deployments.map(deploymentData),
  };
}

function deploymentData(settings: DeploymentSettings): object {
  const { tenantId, name, isDefault, hosts, deploymentId, path, index, runtime, env, idleMs, ...rest } = settings;
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
    env: Object.keys(env).toSorted(),
    ...rest,
    idleMs: Number.isFinite(idleMs) ? idleMs : null,
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

function opensText({ tenants, deployment }: TokenGrant): string {
  const who = tenants === 'any' ? 'any tenant' : tenants.join(', ');
  return deployment === undefined ? who : `${who}, only deployment ${deployment}`;
}

function shortPath(path: string, cwd: string): string {
  const short = relative(cwd, path);
  if (short === '') return '.';
  return short.startsWith('..') || isAbsolute(short) ? path : short;
}
