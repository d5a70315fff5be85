/** What a router has of a network whose SDKs log in with OIDC: a signer of tokens, and a model with its key. */
import { X509Certificate } from 'node:crypto';
import { systemClock } from '#base';
import { checkPeerChain } from '#net';
import { fingerprintOf } from '#net/channel';
import { ctrlMessages, DataState_Action } from '#wire/ctrl';
import {
  makeTestAuthority,
  type IssueOptions,
  type TestAuthority,
} from '../../../../test/support/certificates.ts';
import {
  eventsOf,
  grantChanges,
  identityChange,
  serviceChange,
  TokenSigner,
  type DataModelChange,
} from '../../../../test/support/token-signer.ts';
import { ControllerKeys } from '../../model/controller-keys.ts';
import { DataModel } from '../../model/data-model.ts';
import { ControllerTokens } from '../controller-tokens.ts';
import { ServiceGrants } from '../service-grants.ts';
import { TokenSession, type CertifiedPeer } from '../token-session.ts';
import { TokenSessions, type SessionFault } from '../token-sessions.ts';

export class TokenWorld {
  readonly authority: TestAuthority;
  readonly signer: TokenSigner;
  readonly model = new DataModel();
  readonly sessions: TokenSessions;
  readonly grants: ServiceGrants;
  /** Sessions of open channels. */
  readonly channels: TokenSession[] = [];
  /** Hosts that a controller announces. */
  readonly announced = new Set<string>();

  private constructor(authority: TestAuthority, signer: TokenSigner) {
    this.authority = authority;
    this.signer = signer;
    const { model } = this;
    const tokens = new ControllerTokens({
      keys: new ControllerKeys(model),
      isAnnouncedHost: (host) => this.announced.has(host),
      clock: systemClock,
    });
    this.sessions = new TokenSessions({ tokens, model, open: () => this.channels });
    this.grants = new ServiceGrants(model, tokens);
  }

  /** `identity-1` may dial and host `service-1`. */
  static async make(): Promise<TokenWorld> {
    const authority = await makeTestAuthority();
    const world = new TokenWorld(authority, await TokenSigner.make(authority));
    world.change([
      world.signer.publicKey,
      identityChange('identity-1'),
      identityChange('identity-2'),
      serviceChange('service-1'),
      ...grantChanges('dial', 'Dial', 'identity-1', 'service-1'),
      ...grantChanges('bind', 'Bind', 'identity-1', 'service-1'),
    ]);
    return world;
  }

  change(changes: readonly DataModelChange[], action: DataState_Action = DataState_Action.CREATE): void {
    const set = { index: this.model.index + 1n, changes: eventsOf(changes, action) };
    this.model.change(
      ctrlMessages.dataStateChangeSet.decode(ctrlMessages.dataStateChangeSet.frame(set).body),
    );
  }

  async peer(options?: IssueOptions, authority = this.authority): Promise<CertifiedPeer> {
    const certificate = new X509Certificate((await authority.issue('sdk', options)).cert);
    const isProven = (): boolean =>
      checkPeerChain(certificate, [], this.authority.ca, Date.now()) === undefined;
    return { address: '127.0.0.1:1', fingerprint: fingerprintOf(certificate), certificate, isProven };
  }

  open(token: string, peer: CertifiedPeer, timeoutMs = 0): Promise<TokenSession | SessionFault> {
    return this.sessions.open(token, peer, timeoutMs);
  }

  /** A valid session of `identity-1`. */
  async session(): Promise<TokenSession> {
    const peer = await this.peer();
    const session = await this.open(await this.signer.access(peer.fingerprint), peer);
    if (session instanceof TokenSession) return session;
    throw new Error(session.fault);
  }
}
