/**
 * `frontdoor dev battery`: rows of the security test plan against the running product and other people's programs. Each
 * prints "row: N of N (K lost), seed"; the exit status is 1 when anything was lost.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { startBatteryProduct, type BatteryProduct } from './battery-product.ts';
import { RowSkipped, type BatteryRow, type Tally } from './battery-row.ts';
import { BATTERY_ROWS } from './battery-table.ts';
import { isSetUp, ownNetworkMissing, runInOwnNetwork } from './own-network.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() >>> 0) },
  },
});
const seed = Number(values.seed);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const unknown = positionals.filter((id) => !BATTERY_ROWS.some((row) => row.id === id.toUpperCase()));
if (unknown.length > 0 || !Number.isSafeInteger(seed)) {
  say(`unknown: ${unknown.join(' ')}; rows: ${BATTERY_ROWS.map(({ id }) => id).join(' ')}`);
  process.exit(2);
}
const wanted = BATTERY_ROWS.filter(
  ({ id }) => positionals.length === 0 || positionals.some((asked) => asked.toUpperCase() === id),
);

const PARTS = ['control', 'router', 'gateway', 'agent'] as const;

let running: BatteryProduct | undefined;
let elsewhere: number | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    if (elsewhere !== undefined) process.kill(elsewhere, signal);
    const parts = running?.parts;
    const killed = parts === undefined ? [] : PARTS.map((name) => parts[name].kill());
    void Promise.all(killed).then(() => process.exit(130));
  });
}

async function runRow(row: BatteryRow): Promise<Tally> {
  const product = row.hasOwnProduct === true ? undefined : await startBatteryProduct(row.product);
  running = product;
  const parts = product === undefined ? [] : PARTS.map((name) => [name, product.parts[name]] as const);
  try {
    const note = (line: string): void => say(`  ${line}`);
    const tally = await row.run({ quick: values.quick, seed, note, progress: () => {} }, product!);
    for (const [name, part] of parts) {
      tally.check(part.isRunning, `${name} is still running`, () => part.output.slice(-2_000));
    }
    return tally;
  } catch (error) {
    for (const [name, part] of parts) {
      if (!part.isRunning) say(`  ${name} ended: ${part.output.slice(-2_000)}`);
    }
    throw error;
  } finally {
    await product?.stop().catch((error: unknown) => say(`  ${String(error).slice(0, 2_000)}`));
  }
}

/** Its exit status, when it has to be run in a namespace of its own, and can be. */
async function runElsewhere({ id, needsSetUpKernel = false }: BatteryRow): Promise<number | undefined> {
  if (!needsSetUpKernel || isSetUp()) return undefined;
  const missing = ownNetworkMissing();
  if (missing !== undefined) {
    say(
      `  the kernel is not set up as docs/guide/gateway-machines.md says, and there is no other: ${missing}`,
    );
    return undefined;
  }
  const args = [id, '--seed', String(seed), ...(values.quick ? ['--quick'] : [])];
  const status = await runInOwnNetwork(args, (pid) => (elsewhere = pid));
  elsewhere = undefined;
  return status;
}

let isGood = true;
for (const row of wanted) {
  const { id, title } = row;
  const status = await runElsewhere(row);
  if (status !== undefined) {
    isGood &&= status === 0;
    continue;
  }
  say(`${id} ${title}${values.quick ? ', quick form' : ''}, seed ${seed}`);
  const startedMs = performance.now();
  try {
    const tally = await runRow(row);
    for (const problem of tally.problems) say(`  LOST ${problem}`);
    say(`${tally.line(id, seed)}, ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
    isGood &&= tally.isGood;
  } catch (error) {
    if (error instanceof RowSkipped) say(`${id}: skipped: ${error.message}`);
    else {
      say(`${id}: failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      isGood = false;
    }
  }
}
process.exit(isGood ? 0 : 1);
