/**
 * The value of the inspection `router-sdk-circuits`: the circuits of each SDK at this router as it describes them itself, with the
 * field names of OpenZiti's routers. Controllers wait for it, so that SDKs that do not answer cost an error each.
 */
import { messageOf, textOf } from '#base';
import { compileReader, Part, Type, type ShapeOf } from '#base/shapes';
import type { Channel } from '#net/channel';
import { contentType, encodeTextList, headerId, HeaderWriter, makeFrame } from '#wire';

/** A connected SDK. */
export interface InspectedSdk {
  readonly channel: Pick<Channel, 'id' | 'request'>;
  readonly session: { readonly identityId: string };
}

export interface SdkCircuits {
  /** By identity, channel and circuit, with slashes between them. */
  readonly circuits: Readonly<Record<string, object>>;
  readonly errors: readonly string[];
}

/** OpenZiti's controllers wait for 10 s, and ours for 8 s. */
const ANSWER_MS = 4_800;
/** Bodies of all answers of one inspection. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_ERRORS = 100;
const NAME = 'circuits';

const circuitSchema = Type.Object({
  circuitId: Part.someText(),
  connId: Part.orElse(Part.count(), 0),
  address: Part.orElse(Part.text(), ''),
  originator: Part.orElse(Part.text(), ''),
  isXgress: Part.orElse(Part.flag(), false),
  ctrlId: Part.orElse(Part.text(), ''),
});
const answerSchema = Type.Object({
  values: Type.Object({ [NAME]: Type.Object({ circuits: Part.mapOf(circuitSchema) }) }),
});
const readAnswer = compileReader(answerSchema);

/** Never rejects. */
export async function inspectSdkCircuits(sdks: Iterable<InspectedSdk>): Promise<SdkCircuits> {
  const circuits: Record<string, object> = {};
  const errors: string[] = [];
  let leftBytes = MAX_BYTES;
  const ask = async ({ channel, session: { identityId } }: InspectedSdk): Promise<void> => {
    try {
      const headers = new HeaderWriter().bytes(headerId.edge.inspectRequestedValues, encodeTextList([NAME]));
      const answer = await channel.request(makeFrame(contentType.edgeInspectRequest, { headers }), ANSWER_MS);
      leftBytes -= answer.body.length;
      if (leftBytes < 0) throw new Error('the answers of other SDKs are too long together');
      for (const circuit of circuitsOf(answer.body))
        circuits[`${identityId}/${channel.id}/${circuit.circuitId}`] = {
          identityId,
          channelConnId: channel.id,
          ...circuit,
        };
    } catch (error) {
      if (errors.length < MAX_ERRORS)
        errors.push(`no circuits of identity ${identityId}, channel ${channel.id}: ${messageOf(error)}`);
    }
  };
  await Promise.all([...sdks].map(ask));
  return { circuits, errors };
}

function circuitsOf(body: Uint8Array): ShapeOf<typeof circuitSchema>[] {
  const read = readAnswer(JSON.parse(textOf(body)));
  if ('value' in read) return Object.values(read.value.values[NAME].circuits);
  throw new Error(`${read.field} ${read.rule}`);
}
