import { describe, expect, test } from 'vitest';

import { dropUndeclared, findMissing } from '../../../child/serve/environment.ts';

describe('the environment filter', () => {
  test.each([
    'PATH HOME HOSTNAME USER LANG LANGUAGE TZ TMPDIR TMP TEMP PWD SHLVL _ __CF_USER_TEXT_ENCODING',
    'NODE_ENV NODE_VERSION YARN_VERSION NODE_OPTIONS NODE_EXTRA_CA_CERTS JAVA_HOME JAVA_VERSION JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS VIRTUAL_ENV',
    'PORT HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE',
    'K_SERVICE K_REVISION K_CONFIGURATION AWS_REGION AWS_DEFAULT_REGION AWS_EXECUTION_ENV AWS_ROLE_ARN AWS_WEB_IDENTITY_TOKEN_FILE',
    'IDENTITY_ENDPOINT IDENTITY_HEADER MSI_ENDPOINT MSI_SECRET AZURE_CLIENT_ID AZURE_TENANT_ID',
    'LC_ALL PYTHONPATH OTEL_X CLOUD_RUN_JOB CONTAINER_APP_NAME KINDGI_X',
  ])('C8: keeps %s', (names) => {
    const env = Object.fromEntries(names.split(' ').map((name) => [name, 'x']));
    expect(dropUndeclared(env, { required: [], optional: [] })).toEqual([]);
    expect(Object.keys(env)).toHaveLength(names.split(' ').length);
  });

  test('C8 C9: drops the rest, credentials included, and tells the names sorted', () => {
    const names = [
      'path',
      'Z',
      'AWS_SECRET_ACCESS_KEY',
      'AWS_ACCESS_KEY_ID',
      'GOOGLE_APPLICATION_CREDENTIALS',
      'AZURE_CLIENT_SECRET',
      'XLC_ALL',
    ];
    const env: Record<string, string> = Object.fromEntries(names.map((name) => [name, 'x']));
    env.DECLARED = 'x';
    env.OPTIONAL = 'x';
    expect(dropUndeclared(env, { required: ['DECLARED'], optional: ['OPTIONAL'] })).toEqual([...names].sort());
    expect(env).toEqual({ DECLARED: 'x', OPTIONAL: 'x' });
  });
});

test('C17: unset and empty are missing, a blank is a value, names come sorted', () => {
  const declared = { required: ['Z', 'EMPTY', 'BLANK', 'SET', 'A'], optional: ['O'] };
  expect(findMissing({ EMPTY: '', BLANK: ' ', SET: 'x' }, declared)).toEqual(['A', 'EMPTY', 'Z']);
});
