/** Streams of changes: of a frontdoor's resources, and of the installation's. */
import { invalidValue, isUuid } from '#domain';
import { INSTALLATION_TOPIC, isLogPosition } from '../changes/change-log.ts';
import type { Principal } from '../../credentials/oauth/mod.ts';
import { insufficientScope } from './api-errors.ts';
import type { ApiParts, Call, Handlers } from './call.ts';
import { lastEventIdOf, provenAgain, streamAnswer } from './event-stream-answer.ts';
import { ADMIN } from './granted-organization.ts';
import { textOf } from './page-query.ts';

type ChangeStreamParts = Pick<ApiParts, 'frontdoors' | 'changeFollowers'>;

export const changeHandlers: Handlers<
  ChangeStreamParts,
  'followChanges' | 'followFrontdoorChanges' | 'followInstallationChanges'
> = {
  async followChanges(parts, call) {
    const { organizationId, scopes } = call.principal;
    const withInstallation = textOf(call.query, 'installation') === 'true';
    if (withInstallation && !scopes.includes(ADMIN)) throw insufficientScope(ADMIN);
    const ids = [...new Set((textOf(call.query, 'frontdoorIds') ?? '').toLowerCase().split(','))];
    const granted = await Promise.all(
      ids.filter(isUuid).map(async (id) => parts.frontdoors.find(organizationId, id)),
    );
    const topics = [
      ...granted.flatMap((frontdoor) => (frontdoor === undefined ? [] : [frontdoor.id])),
      organizationId,
      ...(withInstallation ? [INSTALLATION_TOPIC] : []),
    ];
    // The deletion of a frontdoor does not end the stream, because a deleted frontdoor reports no changes.
    const isGranted = async (present: Principal): Promise<boolean> =>
      present.organizationId === organizationId && (!withInstallation || present.scopes.includes(ADMIN));
    return follow(parts, call, { topics, isGranted, namesOwners: true });
  },

  async followFrontdoorChanges(parts, call) {
    const { id, organizationId: ownerId } = call.frontdoor;
    const isGranted = async ({ organizationId }: Principal) =>
      (await parts.frontdoors.find(organizationId, id)) !== undefined;
    // Every page names the frontdoors of the organization, to choose one.
    return follow(parts, call, { topics: [id, ownerId], isGranted });
  },

  async followInstallationChanges(parts, call) {
    return follow(parts, call, { topics: [INSTALLATION_TOPIC], isGranted: async () => true });
  },
};

function follow(
  { changeFollowers }: ChangeStreamParts,
  call: Call,
  {
    topics,
    isGranted,
    namesOwners = false,
  }: {
    readonly topics: readonly string[];
    readonly isGranted: (principal: Principal) => Promise<boolean>;
    readonly namesOwners?: boolean;
  },
) {
  const { principal } = call;
  const data = changeFollowers.follow({
    topics,
    namesOwners,
    after: lastEventIdOf(call, isLogPosition, 'id of an event of this stream') ?? positionOf(call),
    reader: `${principal.kind} ${principal.id}`,
    organizationId: principal.organizationId,
    isAllowed: async () => {
      const now = await provenAgain(call);
      return now !== undefined && isGranted(now);
    },
  });
  return streamAnswer(data);
}

/** Throws the refusal of an id of another form. */
function positionOf({ query }: Call): string | undefined {
  const after = textOf(query, 'after');
  if (after !== undefined && !isLogPosition(after))
    throw invalidValue('after', 'id of an event of this stream');
  return after;
}
