import { EXIT } from '../../shared/process/contract.ts';
import { load } from '../config/load.ts';
import { problemText, warningText } from '../config/problem.ts';
import { CONFIG_OPTION, DEFAULT_CONFIG_FILE } from './command.ts';
import type { Command, Options } from './command.ts';
import { planData, planText } from './plan.ts';

const OPTIONS = {
  ...CONFIG_OPTION,
  'allow-faults': { type: 'boolean', help: 'as for serve: a configuration with faults: may be good' },
} as const satisfies Options;

/** `packgate check`: judges a configuration and prints what would run. */
export const check: Command<typeof OPTIONS> = {
  name: 'check',
  summary: 'Judge a configuration and print what would run; starts nothing',
  usage: 'packgate check [-c <file>] [--allow-faults] [--json]',
  options: OPTIONS,
  examples: [
    { line: 'packgate check', does: 'judge packgate.yaml in this folder' },
    { line: 'packgate check -c deploy/packgate.yaml --json', does: 'judge another file; problems and plan as JSON' },
  ],

  async run(options, { env, cwd, stdout, stderr }) {
    const { config = DEFAULT_CONFIG_FILE, json = false, 'allow-faults': allowFaults = false } = options;
    const loaded = await load(config, { env, cwd, allowFaults });
    const { warnings } = loaded;
    const isBad = 'problems' in loaded;
    if (json) {
      const outcome = isBad
        ? { ok: false, problems: loaded.problems }
        : { ok: true, ...planData(loaded.configuration) };
      stdout.write(`${JSON.stringify({ ...outcome, warnings }, undefined, 2)}\n`);
    } else {
      if (isBad) for (const problem of loaded.problems) stderr.write(`${problemText(problem)}\n`);
      else stdout.write(planText(loaded.configuration, cwd));
      for (const warning of warnings) stderr.write(`${warningText(warning)}\n`);
    }
    return isBad ? EXIT.badConfig : EXIT.ok;
  },
};
