/**
 * Loaded before a program (`--import`): makes methods of its classes throw. The file that `FRONTDOOR_TEST_FAULTS` names has
 * the place that throws now, and is read again when it changes. Each exception is announced on standard error.
 */
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { inspect } from 'node:util';
import { FAULT_PLACES, type FaultPlace } from './fault-place-table.ts';

const LOOK_MS = 50;
const file = process.env['FRONTDOOR_TEST_FAULTS'] ?? '';
const words = process.argv.slice(1).join(' ');
const program = ['agent start', 'gateway', 'router run', 'control', 'tunnel']
  .find((one) => words.includes(one))
  ?.split(' ')[0];
const state = { text: '', left: 0, place: '' };

function look(): void {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // Nothing throws before the file is there.
  }
  if (text === state.text) return;
  state.text = text;
  const [place = '', times = '1'] = text.trim().split(' ');
  state.place = place;
  state.left = Number(times);
}

async function plant(place: FaultPlace): Promise<void> {
  const loaded = (await import(new URL(`../../${place.file}`, import.meta.url).href)) as Record<
    string,
    { readonly prototype: Record<string, (...args: unknown[]) => unknown> }
  >;
  const { prototype } = loaded[place.owner]!;
  const original = prototype[place.method]!;
  prototype[place.method] = function (this: unknown, ...args: unknown[]): unknown {
    const isHere = state.place === place.name && state.left > 0;
    const isMeant = isHere && (place.only === undefined || inspect(args, { depth: 3 }).includes(place.only));
    if (!isMeant) return original.apply(this, args);
    state.left -= 1;
    process.stderr.write(`planted ${place.name}\n`);
    throw new TypeError(`planted at ${place.name}`);
  };
}

for (const place of FAULT_PLACES) if (place.part === program) await plant(place);
look();
setInterval(look, LOOK_MS).unref();
