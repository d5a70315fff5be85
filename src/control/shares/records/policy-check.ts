/**
 * Names at the start the shares whose rules about people admit nobody, because no auth provider proves who a person is
 * there.
 */
import { messageOf, type Log } from '#base';
import { LOGIN_TYPES_TEXT } from '#domain/provider-types';
import type { Store } from '../../store/mod.ts';
import { warnedPolicies } from './policy-warning-store.ts';

const MOST_NAMED = 20;
const MESSAGE =
  'policies have rules about people (emails, claims) at shares where no auth provider proves who a person is, so that ' +
  `nobody is admitted there: give the shares a provider of type ${LOGIN_TYPES_TEXT}, or remove the rules; ` +
  '"frontdoor shares policy warnings" lists all';

export class PolicyCheck {
  readonly #store: Pick<Store, 'db'>;
  readonly #log: Log;
  /** Resolves when all policies were looked at. Never rejects. */
  readonly done: Promise<void>;
  #isClosed = false;

  constructor({ store, log }: { readonly store: Pick<Store, 'db'>; readonly log: Log }) {
    this.#store = store;
    this.#log = log;
    this.done = this.#run();
  }

  /** Resolves when the check does not use the store any longer. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.done;
  }

  async #run(): Promise<void> {
    try {
      const shares: string[] = [];
      let count = 0;
      for await (const { token, warnings } of warnedPolicies(this.#store.db)) {
        if (this.#isClosed) return;
        if (!warnings.some(({ reason }) => reason === 'person-unprovable')) continue;
        count += 1;
        if (count <= MOST_NAMED) shares.push(token);
      }
      if (count > 0) this.#log.warn({ shares, count }, MESSAGE);
    } catch (error) {
      this.#log.warn({ cause: messageOf(error) }, 'the policies of shares could not be checked');
    }
  }
}
