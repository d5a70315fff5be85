/**
 * What a gateway's supervisor and its workers send each other, over the pipe between them. After an upgrade on disk, a
 * supervisor of the old version starts workers of the new one.
 */
import { Part, Shape, Type, type ShapeOf } from '#base/shapes';
import type { GatewayCommandOptions } from '#cli';
import { ISSUE_OUTCOMES, type KeptCertificate } from '#gateway';
import type { IdentityFile } from '#net/files';

const { count, flag, nullable, oneOf, port, text, texts, variants, withDefault } = Part;

const anyObject = { type: 'object', additionalProperties: true };
const identity = () => Type.Unsafe<IdentityFile>(anyObject);
const certificate = () => Type.Unsafe<KeptCertificate>(anyObject);

const startSchema = Type.Object({
  number: count(),
  workers: count(),
  options: Type.Unsafe<GatewayCommandOptions>(anyObject),
  dataDir: text(),
  version: text(),
  identity: identity(),
  plainPort: port(),
  securePort: nullable(port()),
  /** Base64. */
  ticketSecret: text(),
  /** Null when HTTPS is off. */
  certificates: nullable(Type.Array(certificate())),
  /** Null when certificates are only files. */
  automatic: withDefault(nullable(Type.Object({ thumbprint: text(), hasWildcards: flag() })), null),
});
const remedy = 'restart the gateway';

export const toWorkerShape = new Shape(
  variants('type', {
    start: startSchema,
    /** The certificate was renewed. */
    identity: Type.Object({ identity: identity() }),
    reload: Type.Object({}),
    /** What became of a wanted name. `refused` goes to the worker that wanted it, the others to all. */
    certificate: Type.Object({
      name: text(),
      outcome: oneOf(...ISSUE_OUTCOMES),
      certificate: nullable(certificate()),
      failure: withDefault(
        nullable(Type.Object({ problem: text(), retryAtMs: nullable(Type.Number()) })),
        null,
      ),
    }),
    /** A stop follows. The worker is not ready from now on. */
    stopping: Type.Object({}),
    /** A second message without a time cuts the drain short. */
    stop: Type.Object({ drainMs: Type.Number() }),
  }),
  { name: 'message to a worker', format: 1, formatField: 'format', remedy },
);
export type ToWorker = ShapeOf<typeof toWorkerShape.schema>;
export type WorkerStart = Extract<ToWorker, { type: 'start' }>;

export const fromWorkerShape = new Shape(
  variants('type', {
    /** It listens; `isFresh` when a control plane has sent it the shares. */
    ready: Type.Object({ isFresh: { ...flag(), default: true } }),
    /** Every so often, by a timer: its loop turns. */
    alive: Type.Object({}),
    failed: Type.Object({ message: text() }),
    /** The certificates that it needs. Older supervisors read only the names. */
    wanted: Type.Object({
      names: texts(),
      needed: withDefault(
        Type.Array(
          Type.Object({
            name: text(),
            organizationId: text(),
            isCustom: flag(),
            isAlone: flag(),
            domain: Type.Optional(text()),
          }),
        ),
        [],
      ),
    }),
  }),
  { name: 'message of a worker', format: 1, formatField: 'format', remedy },
);
export type FromWorker = ShapeOf<typeof fromWorkerShape.schema>;

export const ALIVE_MS = 2_000;

/** The worker's descriptors of its sockets, in the order of `WorkerPorts.fdsOf`: behind those of its pipes. */
export const FIRST_SOCKET_FD = 4;
