/** The service of an installation that systemd runs. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

export interface SetupService {
  /** The only data directory that the unit can write to. */
  readonly dataDir: string;
  /** Whether systemd has a unit that reads the file. */
  hasUnit(config: string): boolean;
  /** Starts the unit, now and at each start of the machine. Returns the reason if that failed. */
  start(): string | undefined;
}

const UNIT = 'frontdoor.service';
/** Present if systemd runs this machine. */
const SYSTEMD = '/run/systemd/system';
/** A program that does not start writes a line for people. */
const PROGRAM = 'frontdoor: ';
const TIMEOUT_MS = 120_000;

export const systemService: SetupService = {
  dataDir: '/var/lib/frontdoor',
  hasUnit: (config) => existsSync(SYSTEMD) && systemctl('cat', UNIT).text.includes(config),
  start() {
    for (const words of [
      ['enable', UNIT],
      ['restart', UNIT],
    ] as const) {
      const { isDone, text } = systemctl(...words);
      if (!isDone) return lastWords() ?? text.trim().split('\n')[0] ?? '';
    }
    return undefined;
  },
};

/** The reason of the program itself. */
function lastWords(): string | undefined {
  const words = ['--unit', UNIT, '--output', 'cat', '--no-pager', '--lines', '20'];
  const { stdout } = spawnSync('journalctl', words, { encoding: 'utf8', timeout: TIMEOUT_MS });
  return (stdout ?? '')
    .split('\n')
    .findLast((line) => line.startsWith(PROGRAM))
    ?.slice(PROGRAM.length);
}

function systemctl(...words: readonly string[]): { readonly isDone: boolean; readonly text: string } {
  const { status, stdout, stderr, error } = spawnSync('systemctl', words, {
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  const text = code === 'ETIMEDOUT' ? `it was not ready within ${TIMEOUT_MS / 1_000} s` : error?.message;
  return { isDone: status === 0, text: text ?? `${stdout}${stderr}` };
}
