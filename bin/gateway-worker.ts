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
import { openLog } from './program-log.ts';
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

/** What this process serves, from the message that starts it on. */
class GatewayWorker {
  #part: Promise<GatewayPart> | undefined;
  #log: Log | undefined;
  #obtained: WorkerCertificates | undefined;
  #isEnding = false;

  async #start(message: WorkerStart): Promise<GatewayPart> {
    const { number, workers, options, identity, version, plainPort, securePort, dataDir, automatic } =
      message;
    // A worker and the one that it replaces have the same number while that one drains.
    const log = openLog(options).log.child({ worker: number, pid: process.pid });
    this.#log = log;
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
                thumbprint: automatic.thumbprint,
                hasWildcards: automatic.hasWildcards,
                source: (store) => (this.#obtained = new WorkerCertificates(store, send)),
              },
      },
    });
  }

  async #end(drainMs: number): Promise<void> {
    this.#isEnding = true;
    try {
      await (await this.#part)?.close(drainMs);
    } catch (error) {
      this.#log?.error({ err: messageOf(error) }, 'did not stop cleanly');
      process.exit(1);
    }
    process.exit(0);
  }

  /** A message that cannot be read ends a worker that has not started; another one leaves it as it is. */
  onMessage(value: unknown): void {
    const read = toWorkerShape.read(value);
    if ('problem' in read) {
      this.#log?.error({ cause: read.problem }, 'a message of the supervisor cannot be read');
      if (this.#part === undefined) send({ type: 'failed', message: read.problem }, () => process.exit(1));
      return;
    }
    const message = read.value;
    switch (message.type) {
      case 'start':
        this.#part = this.#start(message);
        this.#part.then(
          async ({ freshOrLate }) => {
            send({ type: 'ready', isFresh: await freshOrLate });
            collectAfterStart();
          },
          (error: unknown) => send({ type: 'failed', message: messageOf(error) }, () => process.exit(1)),
        );
        return;
      case 'identity':
        this.#part
          ?.then((running) => running.useIdentity(message.identity))
          .catch((error: unknown) =>
            this.#log?.warn({ err: messageOf(error) }, 'the renewed certificate was not taken'),
          );
        return;
      case 'reload':
        void this.#part?.then((running) => running.reload());
        return;
      case 'certificate':
        this.#obtained?.onOutcome(message);
        return;
      case 'stopping':
        void this.#part?.then((running) => running.announceStop());
        return;
      case 'stop':
        void this.#end(message.drainMs);
    }
  }

  onSupervisorGone(): void {
    if (this.#isEnding) return;
    this.#log?.error({}, 'the supervisor is gone: draining, then stopping');
    void this.#end(DRAIN_MS);
  }
}

/** Sends a message to the supervisor; `then` runs once it is on its way. */
function send(message: FromWorker, then: () => void = () => {}): void {
  if (process.connected) process.send!(fromWorkerShape.numbered(message), undefined, undefined, then);
  else then();
}

const worker = new GatewayWorker();
setInterval(() => send({ type: 'alive' }), ALIVE_MS).unref();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => {});
process.on('message', (message) => worker.onMessage(message));
process.on('disconnect', () => worker.onSupervisorGone());
