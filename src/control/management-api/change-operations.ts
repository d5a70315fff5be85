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
    const { id } = call.frontdoor;
    const isGranted = async ({ organizationId }: Principal) =>
      (await parts.access.frontdoor(organizationId, id)) !== undefined;
    return follow(parts, call, id, isGranted);
  },

  async followInstallationChanges(parts, call) {
    return follow(parts, call, INSTALLATION_TOPIC, async () => true);
  },
};

function follow(
  { changeFollowers }: ChangeStreamParts,
  call: Call,
  topic: string,
  isGranted: (principal: Principal) => Promise<boolean>,
) {
  const { principal } = call;
  const data = changeFollowers.follow({
    topic,
    after: lastEventIdOf(call, isLogPosition, 'id of an event of this stream'),
    reader: `${principal.kind} ${principal.id}`,
    isAllowed: async () => {
      const now = await provenAgain(call);
      return now !== undefined && isGranted(now);
    },
  });
  return streamAnswer(data);
}
