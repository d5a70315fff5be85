/**
 * `/fabric/v1/ws-api`: events, traces and inspections of the mesh over a WebSocket, for administrators. An open stream is a use of its session, and ends
 * with it or with the right. The number of streams is bounded, in all and for each administrator.
 */
import type { FastifyInstance } from 'fastify';
import type { WebSocketUpgrades } from '#net/http';
import { couldNotValidate, limited } from '../../overlay/clients/mod.ts';
import type { Administrators } from './administrators.ts';
import { entityCounts } from './entity-counts.ts';
import type { ManagementParts } from './entity-resource.ts';
import { FabricEventConnection } from './fabric-event-connection.ts';
import type { FabricInspection } from './fabric-inspection.ts';
import { FabricValidations } from './fabric-validation.ts';

export const FABRIC_EVENTS_PATH = '/fabric/v1/ws-api';
const MAX_STREAMS = 16;
const MAX_STREAMS_OF_ONE = 8;
const RETRY_MS = 10_000;
const CHECK_MS = 30_000;
/** A peer that does not answer pings is gone. */
const MAX_UNANSWERED = 3;

interface Stream {
  readonly identityId: string;
  readonly connection: FabricEventConnection;
  /** Ends the stream if its session or the right is gone. */
  check(): void;
}

/** What streams of events use besides the parts of all routes. */
export interface FabricEventParts {
  readonly webSockets: WebSocketUpgrades;
  readonly administrators: Administrators;
  readonly inspection: FabricInspection;
}

export function addFabricEventRoutes(
  app: FastifyInstance,
  context: ManagementParts,
  { webSockets, administrators, inspection }: FabricEventParts,
): void {
  const { clock, log } = context;
  const { events } = context.mesh;
  const { controllerId, diagnostics } = context.overlay;
  const validations = new FabricValidations(context);
  const streams = new Set<Stream>();
  webSockets.serve(FABRIC_EVENTS_PATH);
  context.store.onChange((changes) => {
    for (const { identityId, check } of streams)
      if (changes.some(({ entity, id }) => entity === 'everything' || id === identityId)) check();
  });

  app.get(FABRIC_EVENTS_PATH, async (request, reply) => {
    const caller = await administrators.prove(request, reply);
    if (!webSockets.isUpgrade(request.raw)) throw couldNotValidate('this path is for WebSockets');
    await webSockets.load();
    const { id: identityId, name } = caller.identity;
    const own = [...streams].filter((stream) => stream.identityId === identityId);
    if (streams.size >= MAX_STREAMS || own.length >= MAX_STREAMS_OF_ONE) throw limited(RETRY_MS);
    administrators.proveConnection(request);
    reply.hijack();
    webSockets.accept(request.raw, (messages) => {
      const fields = { identity: identityId, address: request.ip };
      const connection = new FabricEventConnection({
        messages,
        events,
        controllerId,
        clock,
        inspection,
        diagnostics,
        validations,
        counts: () => entityCounts(context),
        log: log.child(fields),
      });
      const check = (): void => {
        administrators.isStillAllowed(request).then(
          (isAllowed) => {
            if (!isAllowed) connection.cut('the session has ended');
          },
          (error: unknown) => log.error({ ...fields, err: error }, 'session of a stream cannot be checked'),
        );
      };
      const stream = { identityId, connection, check };
      streams.add(stream);
      let unanswered = 0;
      const timer = setInterval(() => {
        if (unanswered >= MAX_UNANSWERED) connection.cut('no answer to pings');
        unanswered += 1;
        messages.ping();
        check();
      }, CHECK_MS);
      timer.unref();
      messages.handle({
        onMessage: (message) => connection.onMessage(message),
        onPong: () => (unanswered = 0),
        onClose: () => {
          clearInterval(timer);
          streams.delete(stream);
          connection.cut();
        },
      });
      log.info({ ...fields, name }, 'stream of events opened');
    });
    return reply;
  });
}
