/**
 * Ends what tokens and policies no longer permit: channels whose token has expired or whose session is over, and
 * connections that the policies no longer grant. Each is ended within a second of the change that the model received, or of
 * the report of a device that no longer passes a posture check.
 */
import type { Log } from '#base';
import type { DataModel } from '../model/data-model.ts';
import type { EdgePeer } from './edge-peer.ts';
import type { ServiceGrants } from './service-grants.ts';
import { TokenSession } from './token-session.ts';
import type { TokenSessions } from './token-sessions.ts';

export interface SessionWatchOptions {
  readonly model: DataModel;
  readonly sessions: TokenSessions;
  readonly grants: ServiceGrants;
  peers(): Iterable<EdgePeer>;
  readonly log: Log;
}

const INTERVAL_MS = 1_000;

export class SessionWatch {
  readonly #options: SessionWatchOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #leaveModel: () => void;
  /** Versions of postures as they were checked last. */
  readonly #checkedPostures = new WeakMap<TokenSession, number>();
  #isChanged = false;

  constructor(options: SessionWatchOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#check(), INTERVAL_MS);
    this.#timer.unref();
    this.#leaveModel = options.model.onChanged(() => (this.#isChanged = true));
  }

  close(): void {
    clearInterval(this.#timer);
    this.#leaveModel();
  }

  #check(): void {
    const { sessions, grants, peers, log } = this.#options;
    const isChanged = this.#isChanged;
    this.#isChanged = false;
    for (const peer of peers()) {
      const { session, channel } = peer;
      if (!(session instanceof TokenSession)) continue;
      const fault = sessions.faultOf(session);
      if (fault !== undefined) {
        log.info(
          { identity: session.identityId, peer: channel.peer.address, reason: fault },
          'API session ended',
        );
        channel.close(fault);
      } else if (isChanged || this.#isPostureDue(session))
        peer.endForbidden((grant) => grants.faultOf(grant));
    }
  }

  /** True if the device has reported its posture since, or if time alone can end what a one-time password grants. */
  #isPostureDue(session: TokenSession): boolean {
    const { version, passedMfaMs } = session.posture;
    const isChanged = (this.#checkedPostures.get(session) ?? 0) !== version;
    if (isChanged) this.#checkedPostures.set(session, version);
    return isChanged || passedMfaMs !== undefined;
  }
}
