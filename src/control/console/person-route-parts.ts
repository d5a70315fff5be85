/** What the routes of people who log in or are invited share. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Begun, ConsoleLogIn } from './console-log-in.ts';
import type { ConsoleClient, ConsoleSessions } from './console-sessions.ts';
import type { SendPage } from './page-answer.ts';
import type { ProviderOffer } from './provider-log-in.ts';

export interface PersonRouteParts {
  readonly logIn: ConsoleLogIn;
  readonly sessions: ConsoleSessions;
  readonly base: string;
  readonly clientOf: (request: FastifyRequest) => ConsoleClient;
  /** Aborted when nobody waits for the answer. */
  readonly endOf: (reply: FastifyReply) => AbortSignal;
  readonly fieldsOf: (request: FastifyRequest, reply: FastifyReply) => Promise<ReadonlyMap<string, string>>;
  readonly ownPathOf: (path: unknown) => string;
  readonly offersOf: (organizationId: string | undefined) => Promise<readonly ProviderOffer[]>;
  /** Answers with the cookie of what has begun, and leads to a path of the console; by default to its first page. */
  readonly begin: (reply: FastifyReply, begun: Begun, to?: string) => FastifyReply;
  readonly sendPage: SendPage;
}
