/** `ziti fabric stream events` as a process of a test: each line of its output is an event. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { zitiEnvironment } from '../../support/ziti-command.ts';

export interface StreamedEvent {
  readonly namespace: string;
  readonly event_type?: string;
  readonly version?: number;
  readonly service_id?: string;
  readonly circuit_id?: string;
  readonly duration?: number;
  readonly usage?: Readonly<Record<string, number>>;
  readonly tags?: Readonly<Record<string, string>> | null;
}

export interface EventStream {
  /** Returns all events so far. */
  all(): readonly StreamedEvent[];
  /** Returns the events of a service so far. */
  events(serviceId: string): StreamedEvent[];
  /** Lines that are no events. */
  output(): string;
  stop(): Promise<void>;
}

/** `ziti edge login` has to have logged in before. */
export function startEventStream(binary: string, folder: string, ...kinds: string[]): EventStream {
  const child = spawn(binary, ['fabric', 'stream', 'events', ...kinds], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: zitiEnvironment(folder),
  });
  const events: StreamedEvent[] = [];
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (line) => {
      if (line.startsWith('{')) events.push(JSON.parse(line) as StreamedEvent);
      else output += `${line}\n`;
    });
  return {
    all: () => events,
    events: (serviceId) =>
      events.filter(({ tags, service_id }) => [tags?.['serviceId'], service_id].includes(serviceId)),
    output: () => output,
    async stop() {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
