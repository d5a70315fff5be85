/** The command line of the gateway's benchmark. */
import { wholeNumber } from '../bench-options.ts';
import { parseArgs } from 'node:util';

export interface GatewayBenchOptions {
  readonly rounds: number;
  readonly roundSeconds: number;
  /** Rounds of one second with one connection; the best counts. */
  readonly singleRounds: number;
  readonly downloadBytes: number;
  readonly idlePlain: number;
  readonly idleSecure: number;
  /** Connections that are looked at to see how two workers share them. */
  readonly spreadConnections: number;
  /** Requests of the checking load, every 1,000th answer of which is compared. */
  readonly checkedRequests: number;
  /** Only scenarios whose name contains this. */
  readonly only: string | undefined;
  readonly cpuProfileDir: string | undefined;
  readonly compare: readonly [string, string] | undefined;
}

const FULL = {
  rounds: 5,
  roundSeconds: 2,
  singleRounds: 6,
  idlePlain: 5_000,
  idleSecure: 10_000,
  spreadConnections: 1_000,
  checkedRequests: 20_000,
};
const QUICK: typeof FULL = {
  rounds: 1,
  roundSeconds: 1,
  singleRounds: 1,
  idlePlain: 300,
  idleSecure: 500,
  spreadConnections: 1_000,
  checkedRequests: 2_000,
};

export const USAGE = `usage: npm run bench:gateway -- [--quick] [--rounds N] [--seconds N] [--scenario TEXT]
                                [--cpu-profile DIR] [--compare OLD.json NEW.json]
`;

/** The options, or what is wrong with them. */
export function parseGatewayBenchOptions(
  args: readonly string[],
): GatewayBenchOptions | { readonly problem: string } {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        rounds: { type: 'string' },
        seconds: { type: 'string' },
        scenario: { type: 'string' },
        compare: { type: 'boolean', default: false },
        'cpu-profile': { type: 'string' },
      },
    });
    const base = values.quick ? QUICK : FULL;
    const [older, newer] = positionals;
    if (values.compare !== positionals.length > 0 || (values.compare && positionals.length !== 2)) {
      return { problem: '--compare takes two result files, and nothing else takes files' };
    }
    const rounds = wholeNumber('--rounds', values.rounds, base.rounds);
    return {
      ...base,
      rounds,
      singleRounds: values.rounds === undefined ? base.singleRounds : rounds,
      roundSeconds: wholeNumber('--seconds', values.seconds, base.roundSeconds),
      downloadBytes: 100 * 1024 * 1024,
      only: values.scenario,
      cpuProfileDir: values['cpu-profile'],
      compare: older === undefined || newer === undefined ? undefined : [older, newer],
    };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
