/** Codings that gateways may apply to responses of a share. */
import { Type, type ShapeOf } from '#base/shapes';

export const CONTENT_CODINGS = ['zstd', 'br', 'gzip'] as const;
export type ContentCoding = (typeof CONTENT_CODINGS)[number];

export function isContentCoding(text: string): text is ContentCoding {
  return CONTENT_CODINGS.some((coding) => coding === text);
}

const schema = Type.Array(Type.Unsafe<ContentCoding>({ type: 'string', enum: [...CONTENT_CODINGS] }), {
  maxItems: CONTENT_CODINGS.length,
  description:
    'Codings with which gateways compress responses, the preferred one first; empty, the default: none. Do not use it for pages that contain secrets beside text of the request (BREACH)',
});

export const compressionFields = { compression: schema };
export type Compression = ShapeOf<typeof schema>;

/** Returns the rule that a list breaks. */
export function compressionRule(codings: Compression): string | undefined {
  return new Set(codings).size === codings.length ? undefined : 'list without repeated codings';
}
