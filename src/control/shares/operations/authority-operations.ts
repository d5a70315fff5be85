/** The rotation of the installation's authorities (ADR 0062): its steps, each with an audit event of the installation. */
import { FrontdoorError } from '#base';
import type { AuthoritiesAnswer } from '#contract/schemas';
import {
  beginRotation,
  endSoon,
  issueSoon,
  nextRotationStep,
  readAuthorities,
  rotationAt as rotationStepAt,
  type AuthorityView,
} from '../../pki/mod.ts';
import { cutOffByNextStep, dropFormerCertificates } from '../../overlay/records/mod.ts';
import type { Queries, Touch } from '../../store/mod.ts';
import {
  change,
  isoTime,
  ok,
  unstored,
  type ApiParts,
  type Call,
  type ChangeParts,
  type Handlers,
} from './call.ts';

const MOST_LISTED = 100;
const DROPPED_AT_ONCE = 500;

type AuthorityParts = ChangeParts & Pick<ApiParts, 'authorities'>;
type AuthorityIds = 'getAuthorities' | 'rotateAuthority' | 'advanceAuthority';

export const authorityHandlers: Handlers<AuthorityParts, AuthorityIds> = {
  async getAuthorities(parts) {
    return unstored(ok(await answerOf(parts, parts.store.db)));
  },

  async rotateAuthority(parts, call) {
    const { kind = 'intermediate', afterSeconds } = call.body;
    const afterMs = afterSeconds === undefined ? undefined : afterSeconds * 1_000;
    const { secrets, clock, authorities } = parts;
    await step(parts, call, async (trx) => {
      const nowMs = clock.nowMs();
      await beginRotation(trx, { secrets, trustDomain: authorities.trustDomain, nowMs }, kind, afterMs);
    });
    return unstored(ok(await answerOf(parts, parts.store.db)));
  },

  async advanceAuthority(parts, call) {
    const { force = false } = call.body;
    const { store, clock } = parts;
    const rotation = async (db: Queries) => {
      const found = rotationStepAt(await readAuthorities(db), clock.nowMs());
      if (found === undefined)
        throw new FrontdoorError('conflict', 'conflict', 'No authority is being replaced');
      return found;
    };
    const planned = await rotation(store.db);
    if (!force) {
      const { count, identities } = await cutOffByNextStep(store.db, planned, clock.nowMs(), MOST_LISTED);
      if (count > 0) {
        const names = identities.slice(0, 5).map(({ kind, name }) => `${kind} ${name}`);
        const more = count > names.length ? ` and ${count - names.length} more` : '';
        throw new FrontdoorError(
          'conflict',
          'peers-cut-off',
          `${names.join(', ')}${more} would be cut off and have to enroll again: wait until they were here, or use force`,
        );
      }
    }
    // In portions, so that no transaction is long. The command can be repeated after an interruption.
    while (planned.step === 'issuing' && (await dropSome(parts, call, planned)));
    await step(parts, call, async (trx) => {
      const now = await rotation(trx);
      if (now.step !== planned.step)
        throw new FrontdoorError('conflict', 'conflict', 'The step was taken in the meantime');
      await (now.step === 'distributed' ? issueSoon : endSoon)(trx, now, clock.nowMs());
    });
    return unstored(ok(await answerOf(parts, store.db)));
  },
};

/** Runs one step and reads its result into this control plane; others read it within a minute. */
async function step(
  parts: AuthorityParts,
  call: Call,
  work: (trx: Queries, touch: Touch) => Promise<void>,
): Promise<void> {
  await change(parts, call, async (trx, touch) => {
    const before = await readAuthorities(trx);
    await work(trx, touch);
    const after = await readAuthorities(trx);
    const target = { kind: 'authority', id: after.at(-1)!.name };
    const shown = (all: readonly AuthorityView[]) =>
      all.map((one) => authorityAnswer(one, all, parts.clock.nowMs()));
    return { result: undefined, target, before: shown(before), after: shown(after), organizationId: '' };
  });
  await parts.authorities.changed();
}

/** Returns whether certificates of the former intermediate may be left. */
function dropSome(
  parts: AuthorityParts,
  call: Call,
  rotation: Parameters<typeof dropFormerCertificates>[1],
): Promise<boolean> {
  return change(parts, call, async (trx, touch) => {
    const identities = await dropFormerCertificates(trx, rotation, DROPPED_AT_ONCE);
    for (const id of identities) touch('identity', id);
    if (identities.length === 0) return { result: false };
    const target = { kind: 'authority', id: rotation.former[0]!.name };
    return { result: true, target, after: { identities }, organizationId: '' };
  });
}

async function answerOf({ clock }: AuthorityParts, db: Queries): Promise<AuthoritiesAnswer> {
  const nowMs = clock.nowMs();
  const all = await readAuthorities(db);
  const trusted = all.filter(({ endsAtMs }) => endsAtMs === undefined || nowMs < endsAtMs);
  const rotation = rotationStepAt(all, nowMs);
  const authorities = trusted.map((one) => authorityAnswer(one, all, nowMs));
  if (rotation === undefined) return { authorities };
  const { count, identities } = await cutOffByNextStep(db, rotation, nowMs, MOST_LISTED);
  const { kind, step, atMs } = nextRotationStep(rotation)!;
  return {
    authorities,
    rotation: {
      kind,
      step,
      nextStepAt: isoTime(atMs),
      cutOffCount: count,
      cutOff: identities.map(({ lastSeenAtMs, ...one }) => ({
        ...one,
        lastSeenAt: lastSeenAtMs === null ? null : isoTime(lastSeenAtMs),
      })),
    },
  };
}

function authorityAnswer(
  one: AuthorityView,
  all: readonly AuthorityView[],
  nowMs: number,
): AuthoritiesAnswer['authorities'][number] {
  const { name, kind, issuesAtMs, endsAtMs, certificate } = one;
  const isFollowed = all.some(
    (other) => other.kind === kind && other.issuesAtMs > issuesAtMs && other.issuesAtMs <= nowMs,
  );
  return {
    name,
    kind,
    state: nowMs < issuesAtMs ? 'next' : isFollowed ? 'former' : 'issuing',
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    validFrom: isoTime(Date.parse(certificate.validFrom)),
    expiresAt: isoTime(Date.parse(certificate.validTo)),
    issuesFrom: issuesAtMs === 0 ? null : isoTime(issuesAtMs),
    endsAt: endsAtMs === undefined ? null : isoTime(endsAtMs),
  };
}
