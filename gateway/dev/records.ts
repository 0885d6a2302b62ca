/** Names of the records that the loop itself writes, beside those of the gateway. */
export const DEV_EVENT = {
  /** The loop is up: `address`, `adminAddress`, names of `packs`, and `token` where it was made for this run. */
  ready: 'dev-ready',
  /** There is no pack, or none that is called `name`. */
  none: 'dev-no-pack',
  /** A pack is hosted from now on: `pack`, `tenant`, `path`, `runtime`. */
  found: 'pack-found',
  gone: 'pack-gone',
  /** Where a debugger finds a pack, whichever process serves it: `address`. */
  inspect: 'dev-inspect',
  /** What was saved serves: `files`, `durationMs`; `isFirst` at its first start, `isMended` after one that failed. */
  served: 'pack-served',
  /** It does not: `problems`; `serving` tells whether the last good build goes on serving. */
  broken: 'pack-broken',
  /** Something is wrong around a pack, its `.env` for example: `problem`. */
  problem: 'pack-problem',
  /** A call that was made with stand-ins paused: `tool`, and what it says that it waits for in `name`. */
  paused: 'stand-in-paused',
  /** What was posted as its output: `output`, cut when it is long. */
  answered: 'stand-in-answered',
} as const;
