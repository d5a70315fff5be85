/** Sends messages as mail to the addresses of a destination: what waits for it is one mail, and each address gets it once. */
import type { Clock } from '#base';
import type { Secrets } from '../../secrets/mod.ts';
import type { Store } from '../../store/mod.ts';
import type { Attempt, DestinationChannel, Outgoing } from './destination-channel.ts';
import { mailTextOf } from './mail-message.ts';
import { MAX_RECIPIENTS_AN_HOUR, returnMailAllowance, takeMailAllowance } from './mail-usage-store.ts';
import type { Mailer, RefusedAddress } from './mailer.ts';

export interface MailChannelOptions {
  /** Undefined if the operator configured no mail server. */
  readonly mailer: Pick<Mailer, 'send'> | undefined;
  readonly store: Pick<Store, 'db'>;
  readonly secrets: Pick<Secrets, 'hmac'>;
  readonly clock: Clock;
  /** Address of the console; undefined if there is none. */
  readonly consoleUrl: () => string | undefined;
}

const MARK_CHARS = 16;
const PERMANENT = 500;

export class MailChannel implements DestinationChannel {
  readonly #options: MailChannelOptions;

  constructor(options: MailChannelOptions) {
    this.#options = options;
  }

  async send({ destination, messages, accepted: before, signal }: Outgoing): Promise<Attempt> {
    const { mailer, store, clock, consoleUrl } = this.#options;
    if (mailer === undefined)
      return { status: null, problem: 'the operator of this installation configured no mail server' };
    const to = destination.addresses.filter((address) => !before.includes(this.#markOf(address)));
    if (destination.addresses.length === 0) return { status: null, problem: 'its addresses cannot be read' };
    if (to.length === 0) return { status: null, problem: undefined };
    const { organizationId } = destination;
    const nowMs = clock.nowMs();
    const waitUntilMs = await takeMailAllowance(store.db, organizationId, to.length, nowMs);
    if (waitUntilMs !== undefined) {
      const problem = `the organization has sent mail to ${MAX_RECIPIENTS_AN_HOUR} recipients in this hour`;
      return { status: null, problem, waitUntilMs };
    }
    const id = messages[0]!.id;
    const text = mailTextOf(messages, { consoleUrl: consoleUrl(), destination });
    const { accepted: now, refused, status, problem } = await mailer.send({ id, to, ...text }, signal);
    const accepted = [...before, ...now.map((address) => this.#markOf(address))];
    if (problem !== undefined) {
      await returnMailAllowance(store.db, organizationId, to.length, nowMs);
      return { status, problem, accepted };
    }
    const [first] = refused;
    if (first === undefined) return { status, problem: undefined, accepted };
    const isFinal = refused.every((each) => each.status >= PERMANENT);
    return { status: first.status, problem: refusalText(refused), isFinal, accepted };
  }

  /** Recognizes an address without storing it. */
  #markOf(address: string): string {
    return this.#options.secrets.hmac(`mail address ${address}`).slice(0, MARK_CHARS);
  }
}

/** The answers are about addresses that the destination's owner typed. */
function refusalText(refused: readonly RefusedAddress[]): string {
  const [{ address, answer }, ...others] = refused as [RefusedAddress, ...RefusedAddress[]];
  const more = others.length === 0 ? '' : `; ${others.map((each) => each.address).join(', ')} as well`;
  return `${address} was refused: ${answer}${more}`;
}
