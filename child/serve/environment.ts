/**
 * Which variables pack code may see (C8). The list assumes that the machine serves one workload; a supervisor that
 * hosts several builds each child's environment from nothing (C10).
 */
const KEPT_NAMES: ReadonlySet<string> = new Set(
  [
    'PATH HOME HOSTNAME USER LANG LANGUAGE TZ TMPDIR TMP TEMP PWD SHLVL _ __CF_USER_TEXT_ENCODING',
    'NODE_ENV NODE_VERSION YARN_VERSION NODE_OPTIONS NODE_EXTRA_CA_CERTS JAVA_HOME JAVA_VERSION JAVA_TOOL_OPTIONS',
    'JDK_JAVA_OPTIONS _JAVA_OPTIONS VIRTUAL_ENV PORT',
    'HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy',
    'SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE',
    'K_SERVICE K_REVISION K_CONFIGURATION',
    'AWS_REGION AWS_DEFAULT_REGION AWS_EXECUTION_ENV AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
    'AWS_CONTAINER_CREDENTIALS_FULL_URI AWS_CONTAINER_AUTHORIZATION_TOKEN AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
    'AWS_WEB_IDENTITY_TOKEN_FILE AWS_ROLE_ARN ECS_CONTAINER_METADATA_URI ECS_CONTAINER_METADATA_URI_V4',
    'IDENTITY_ENDPOINT IDENTITY_HEADER MSI_ENDPOINT MSI_SECRET',
    'AZURE_CLIENT_ID AZURE_TENANT_ID AZURE_FEDERATED_TOKEN_FILE AZURE_AUTHORITY_HOST',
  ].flatMap((line) => line.split(' ')),
);

const KEPT_PREFIXES = ['KINDGI_', 'LC_', 'PYTHON', 'OTEL_', 'CLOUD_RUN_', 'CONTAINER_APP_'] as const;

/** The names a pack declares in its index. */
export interface DeclaredEnv {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

/** Unsets what is neither declared nor kept, and says which names that were, sorted (C8, C9). */
export function dropUndeclared(env: NodeJS.ProcessEnv, declared: DeclaredEnv): string[] {
  const allowed = new Set([...declared.required, ...declared.optional]);
  const dropped = Object.keys(env).filter(
    (name) => !allowed.has(name) && !KEPT_NAMES.has(name) && !KEPT_PREFIXES.some((prefix) => name.startsWith(prefix)),
  );
  for (const name of dropped) delete env[name];
  return dropped.sort();
}

/** Required names without a value: unset or empty, a blank is a value (C17). Sorted. */
export function findMissing(env: Readonly<Record<string, string | undefined>>, declared: DeclaredEnv): string[] {
  return declared.required.filter((name) => (env[name] ?? '') === '').sort();
}
