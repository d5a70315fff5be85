/**
 * One worker of a gateway, started by its supervisor and no command of its own. It follows the messages on its pipe
 * and ignores signals, which a terminal or a service manager sends to all processes at once: the supervisor handles
 * those. When its supervisor goes, it drains and ends, so that it does not serve beside the next gateway.
 */
import process from 'node:process';
import { messageOf, type Log } from '#base';
import { watchDescriptors } from '#net';
import type { GatewayPart } from './gateway-part.ts';
import { startGatewayProgram } from './gateway-program.ts';
import { containUncaught, DRAIN_MS } from './lifetime.ts';
import { openLog } from './pino-log.ts';
import { collectAfterStart } from './start-collection.ts';
import { WorkerCertificates } from './worker-certificates.ts';
import {
  ALIVE_MS,
  FIRST_SOCKET_FD,
  fromWorkerShape,
  toWorkerShape,
  type FromWorker,
  type WorkerStart,
} from './worker-messages.ts';

let part: Promise<GatewayPart> | undefined;
let log: Log | undefined;
let obtained: WorkerCertificates | undefined;
let isEnding = false;

/** Sends a message to the supervisor; `then` runs once it is on its way. */
function send(message: FromWorker, then: () => void = () => {}): void {
  if (process.connected) process.send!(fromWorkerShape.numbered(message), undefined, undefined, then);
  else then();
}

async function start(message: WorkerStart): Promise<GatewayPart> {
  const { number, workers, options, identity, version, plainPort, securePort, dataDir, automatic } = message;
  // A worker and the one that it replaces have the same number while that one drains.
  log = openLog(options.logLevel).log.child({ worker: number, pid: process.pid });
  containUncaught(log);
  watchDescriptors({ log });
  return startGatewayProgram({
    options,
    identity,
    version,
    log,
    dataDir,
    place: {
      number,
      workers,
      dataDir,
      plain: { port: plainPort, fd: FIRST_SOCKET_FD },
      secure: securePort === null ? undefined : { port: securePort, fd: FIRST_SOCKET_FD + 1 },
      ticketSecret: Buffer.from(message.ticketSecret, 'base64'),
      certificates: message.certificates ?? undefined,
      automatic:
        automatic === null
          ? undefined
          : {
              thumbprint: automatic.thumbprint ?? undefined,
              source: (store) => (obtained = new WorkerCertificates(store, send)),
            },
    },
  });
}

async function end(drainMs: number): Promise<void> {
  isEnding = true;
  try {
    await (await part)?.close(drainMs);
  } catch (error) {
    log?.error({ err: messageOf(error) }, 'did not stop cleanly');
    process.exit(1);
  }
  process.exit(0);
}

/** A message that cannot be read ends a worker that has not started; another one leaves it as it is. */
function onMessage(value: unknown): void {
  const read = toWorkerShape.read(value);
  if ('problem' in read) {
    log?.error({ cause: read.problem }, 'a message of the supervisor cannot be read');
    if (part === undefined) send({ type: 'failed', message: read.problem }, () => process.exit(1));
    return;
  }
  const message = read.value;
  switch (message.type) {
    case 'start':
      part = start(message);
      part.then(
        async ({ freshOrLate }) => {
          send({ type: 'ready', isFresh: await freshOrLate });
          collectAfterStart();
        },
        (error: unknown) => send({ type: 'failed', message: messageOf(error) }, () => process.exit(1)),
      );
      return;
    case 'identity':
      part
        ?.then((running) => running.useIdentity(message.identity))
        .catch((error: unknown) =>
          log?.warn({ err: messageOf(error) }, 'the renewed certificate was not taken'),
        );
      return;
    case 'reload':
      void part?.then((running) => running.reload());
      return;
    case 'certificate':
      obtained?.onOutcome(message);
      return;
    case 'stopping':
      void part?.then((running) => running.announceStop());
      return;
    case 'stop':
      void end(message.drainMs);
  }
}

setInterval(() => send({ type: 'alive' }), ALIVE_MS).unref();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => {});
process.on('message', onMessage);
process.on('disconnect', () => {
  if (isEnding) return;
  log?.error({}, 'the supervisor is gone: draining, then stopping');
  void end(DRAIN_MS);
});
