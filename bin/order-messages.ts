/** What a gateway and the process of one order of a certificate send each other. */
import { Part, Shape, Type, type ShapeOf } from '#base/shapes';
import type { AcmeSettings } from '#gateway/acme-order';

const { count, flag, someText, text, variants, withDefault } = Part;

/** The folder, inside of that of the account, of the TXT records that orders create. */
export const RECORDS_FOLDER = 'records';

const remedy = 'restart the gateway';

export const toOrderShape = new Shape(
  Type.Object({
    settings: Type.Unsafe<AcmeSettings>({ type: 'object', additionalProperties: true }),
    accountKeyPem: someText(),
    version: text(),
    /** A host or `*.zone`. */
    name: someText(),
    /** The folder of the gateway's account, state and certificates. */
    folder: someText(),
  }),
  { name: 'order of a certificate', format: 1, formatField: 'format', remedy },
);
export type ToOrder = ShapeOf<typeof toOrderShape.schema>;

export const fromOrderShape = new Shape(
  variants('type', {
    /** PEM texts. */
    obtained: Type.Object({ cert: someText(), key: someText() }),
    failed: Type.Object({
      message: text(),
      retryAfterMs: count(),
      /** Whether the authority refused it because of its rate limits. */
      isLimited: withDefault(flag(), false),
    }),
    /** For the log. */
    note: Type.Object({ note: text() }),
  }),
  { name: 'outcome of an order', format: 1, formatField: 'format', remedy },
);
export type FromOrder = ShapeOf<typeof fromOrderShape.schema>;
