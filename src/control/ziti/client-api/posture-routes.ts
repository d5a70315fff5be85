/** What the device of a session reports about itself, which posture checks judge at once. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { TokenBuckets } from '#base';
import {
  invalidParameter,
  limited,
  notAuthorized,
  sendData,
  jsonBody,
  jsonList,
} from '../../overlay/clients/mod.ts';
import type { SignInContext } from './edge-context.ts';
import { promptedServices } from './posture-queries.ts';
import { MAX_REPORTS, postureReportsOf } from './posture-reports.ts';

/** Calls of one session; each may write to the database. */
const CALLS = { perSecond: 5, burst: 50 };

/** Adds the routes that OpenZiti serves both at the root and below `/edge/client/v1`. */
export function addPostureRoutes(app: FastifyInstance, context: SignInContext): void {
  const calls = new TokenBuckets(CALLS, context.clock);
  const { model, clock } = context;
  const { sessions } = context.signIn;

  const take = async (
    request: FastifyRequest,
    reply: FastifyReply,
    bodies: (request: FastifyRequest) => readonly (readonly [place: string, body: unknown])[],
  ): Promise<FastifyReply> => {
    const { session } = context.callers.callerOf(request);
    const waitMs = calls.take(session.id);
    if (waitMs > 0) throw limited(waitMs);
    const nowMs = clock.nowMs();
    const responses = bodies(request).flatMap(([place, body]) =>
      postureReportsOf(model.edge, body, place, nowMs),
    );
    const refusal = await sessions.changePosture(session.id, (posture) =>
      posture.report({ responses }, nowMs),
    );
    if (refusal !== undefined) throw invalidParameter('postureResponse', refusal, '');
    const changed = sessions.byId(session.id);
    if (changed === undefined) throw notAuthorized();
    const [isWoken, isUnlocked] = (['woken', 'unlocked'] as const).map((event) =>
      responses.some(({ type }) => type.case === event),
    );
    const services = promptedServices(
      model.edge,
      changed,
      nowMs,
      ({ promptOnWake, promptOnUnlock }) => (promptOnWake && isWoken!) || (promptOnUnlock && isUnlocked!),
    );
    return sendData(reply, { services }, 201);
  };

  app.post('/posture-response', (request, reply) => take(request, reply, (one) => [['', jsonBody(one)]]));

  app.post('/posture-response-bulk', (request, reply) =>
    take(request, reply, (one) => jsonList(one, MAX_REPORTS).map((body, at) => [`[${at}]`, body])),
  );
}

/** The session has passed a one-time password. */
export async function passMfa({ signIn, clock }: SignInContext, sessionId: string): Promise<void> {
  await signIn.sessions.changePosture(sessionId, (posture) => {
    posture.onMfaPassed(clock.nowMs());
    return undefined;
  });
}
