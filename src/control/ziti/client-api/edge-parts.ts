/** Makes what the route groups of the edge API share. */
import { TokenBuckets, type BucketRate } from '#base';
import type { EgressClient, UnprovenConnections } from '#net';
import type { Pki } from '../../pki/mod.ts';
import { LastUses } from '../../store/mod.ts';
import { writeIdentityUses } from '../../overlay/records/mod.ts';
import {
  type ApiSessionStore,
  Callers,
  ClaimedIdentities,
  type EdgeBase,
  type EdgeAddresses,
  type EdgeMesh,
  ExternalIds,
  ExternalSigners,
  PeerIdentities,
  ReplacedCertificates,
  SecondTokens,
} from '../../overlay/clients/mod.ts';
import type { EdgeContext } from './edge-context.ts';
import type { EdgeTokens } from './edge-tokens.ts';
import { LogIns } from './log-in.ts';
import { PartialLogIns } from './partial-log-ins.ts';
import { SecondFactors } from './second-factors.ts';

/** What the edge API is opened with, besides the options of its server. */
export interface EdgeParts {
  readonly base: EdgeBase;
  readonly pki: Pki;
  readonly sessions: ApiSessionStore;
  /** Reads an identity from the store into the model. */
  readonly loadIdentity: (id: string) => Promise<void>;
  readonly edgeTokens: EdgeTokens;
  readonly mesh: EdgeMesh;
  readonly addresses: EdgeAddresses;
  /** Fetches the keys of signers of other parties. */
  readonly egress: Pick<EgressClient, 'get'>;
}

/** Rates of requests that cost much. */
export interface EdgeRates {
  /** Enrollments per address; 20/s, burst 200 by default. */
  readonly enroll?: BucketRate | undefined;
  /** Log-ins per identity; 20/s, burst 200 by default. */
  readonly logIn?: BucketRate | undefined;
}

export interface MadeEdgeContext {
  readonly context: EdgeContext;
  /** Unknown tokens of peers without a certificate that are searched in the database, per address. */
  readonly tokenLimit: TokenBuckets;
  /** Resolves when nothing of it is being written. */
  close(): Promise<void>;
}

const STANDARD: BucketRate = { perSecond: 20, burst: 200 };

export function makeEdgeContext(
  parts: EdgeParts,
  connections: UnprovenConnections,
  rates: EdgeRates,
): MadeEdgeContext {
  const { base, pki, sessions, edgeTokens, mesh, addresses } = parts;
  const { model, secrets, clock } = base;
  const replaced = new ReplacedCertificates(base, base.log);
  const uses = identityUses(parts);
  const externalIds = new ExternalIds(model);
  const externalSigners = new ExternalSigners({
    ...base,
    externalIds,
    fetch: (url) => parts.egress.get(url),
  });
  const secondTokens = new SecondTokens(model, externalSigners);
  const peers = new PeerIdentities(pki, model, new ClaimedIdentities(model, externalIds), clock);
  const callers = new Callers({ ...base, peers, connections, sessions, secondTokens, replaced, uses });
  const tokenLimit = new TokenBuckets(rates.logIn ?? STANDARD, clock);
  const logIns = new LogIns({
    ...base,
    callers,
    sessions,
    events: mesh.events,
    externalSigners,
    loadIdentity: parts.loadIdentity,
    limits: { logIn: new TokenBuckets(rates.logIn ?? STANDARD, clock), token: tokenLimit },
  });
  const context: EdgeContext = {
    ...base,
    callers,
    pki,
    edgeTokens,
    signIn: {
      sessions,
      logIns,
      secondFactors: new SecondFactors(base),
      secondTokens,
      partialLogIns: new PartialLogIns(secrets, clock),
    },
    enrollments: {
      limit: new TokenBuckets(rates.enroll ?? STANDARD, clock),
      externalIds,
      externalSigners,
    },
    mesh,
    addresses,
  };
  const close = async (): Promise<void> => {
    await replaced.idle();
    await uses.close();
  };
  return { context, tokenLimit, close };
}

function identityUses({ base, mesh }: EdgeParts): LastUses {
  const { store, clock, log } = base;
  const uses = new LastUses({
    clock,
    log,
    what: 'last calls of identities',
    write: (used) => writeIdentityUses(store.db, used),
  });
  // The API shows connected identities as seen now, so that only the changes have to be written.
  mesh.status.onMeasured((kind, id) => {
    if (kind === 'identity') uses.saw(id);
  });
  return uses;
}
