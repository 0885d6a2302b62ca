/**
 * Names that the configuration will have and this version does not know how to keep. Ignoring one would be worse than
 * refusing it: a limit or an isolation that is written down but not in force.
 */
export const UNSUPPORTED: { readonly [place in 'gateway' | 'deployment']: ReadonlySet<string> } = {
  gateway: new Set(['tls', 'requireIsolation']),
  deployment: new Set(['isolation', 'user', 'limits']),
};
