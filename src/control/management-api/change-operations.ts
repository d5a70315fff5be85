/** Streams of changes: of a frontdoor's resources, and of the installation's. */
import { INSTALLATION_TOPIC, isLogPosition } from '../event-stream/mod.ts';
import type { Principal } from '../oauth/mod.ts';
import type { ApiParts, Call, Handlers } from './call.ts';
import { lastEventIdOf, provenAgain, streamAnswer } from './event-stream-answer.ts';

type ChangeStreamParts = Pick<ApiParts, 'access' | 'changeFollowers'>;

export const changeHandlers: Handlers<
  ChangeStreamParts,
  'followFrontdoorChanges' | 'followInstallationChanges'
> = {
  async followFrontdoorChanges(parts, call) {
    const { id, organizationId: ownerId } = call.frontdoor;
    const isGranted = async ({ organizationId }: Principal) =>
      (await parts.access.frontdoor(organizationId, id)) !== undefined;
    // Every page names the frontdoors of the organization, to choose one.
    return follow(parts, call, [id, ownerId], isGranted);
  },

  async followInstallationChanges(parts, call) {
    return follow(parts, call, [INSTALLATION_TOPIC], async () => true);
  },
};

function follow(
  { changeFollowers }: ChangeStreamParts,
  call: Call,
  topics: readonly string[],
  isGranted: (principal: Principal) => Promise<boolean>,
) {
  const { principal } = call;
  const data = changeFollowers.follow({
    topics,
    after: lastEventIdOf(call, isLogPosition, 'id of an event of this stream'),
    reader: `${principal.kind} ${principal.id}`,
    organizationId: principal.organizationId,
    isAllowed: async () => {
      const now = await provenAgain(call);
      return now !== undefined && isGranted(now);
    },
  });
  return streamAnswer(data);
}
