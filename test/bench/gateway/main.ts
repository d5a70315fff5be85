// The gateway's benchmark: `npm run bench:gateway`. Beside nginx and haproxy with the same TLS; needs wrk and nginx, and
// about half an hour. Run it on a quiet machine, and compare ratios of one run only.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '#base';
import { compareText } from '../bench-report.ts';
import { loadResult, saveResult } from '../bench-result.ts';
import { parseGatewayBenchOptions, USAGE } from './gateway-bench-options.ts';
import { gatewayReportText } from './gateway-bench-report.ts';
import { runGatewayBench } from './gateway-bench-run.ts';
import { GATEWAY_GOALS } from './gateway-goal-table.ts';

async function main(args: readonly string[]): Promise<number> {
  const options = parseGatewayBenchOptions(args);
  if ('problem' in options) {
    process.stderr.write(`bench:gateway: ${options.problem}\n${USAGE}`);
    return 2;
  }
  if (options.compare !== undefined) {
    process.stdout.write(compareText(loadResult(options.compare[0]), loadResult(options.compare[1])));
    return 0;
  }
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-bench-gateway-'));
  try {
    const result = await runGatewayBench(options, folder, (text) => process.stdout.write(`… ${text}\n`));
    process.stdout.write(gatewayReportText(result));
    process.stdout.write(`saved as ${saveResult(result, 'gateway-')}\n`);
    // A goal that nobody measured is not a goal reached; with --scenario most are left out on purpose.
    const isWhole = GATEWAY_GOALS.every((goal) => goal.value(result) !== undefined);
    return isWhole || options.only !== undefined ? 0 : 1;
  } catch (error) {
    process.stderr.write(`bench:gateway: ${messageOf(error)}\n`);
    for (let cause = (error as Error).cause; cause !== undefined; cause = (cause as Error).cause)
      process.stderr.write(`  because: ${messageOf(cause)}\n`);
    return 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

process.exitCode = await main(process.argv.slice(2));
