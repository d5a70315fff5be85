/** Schemas of how requests of a share reach its service. The fields are those of `#domain/upstream`. */
import type { Static } from 'typebox';
import { Part } from '#base/shapes';
import { shareUpstreamFields } from '#domain/upstream';
import { closed, nullable } from '../schema-parts.ts';

type Fields = typeof shareUpstreamFields;

/** A text that may be null has two types in the schemas of the API, and two schemas in those of our own shapes. */
const fields = Object.fromEntries(
  Object.entries(shareUpstreamFields).map(([name, field]) => {
    const [text] = 'anyOf' in field ? (field.anyOf as { readonly type: string }[]) : [];
    return [name, text === undefined ? field : nullable(text)];
  }),
) as unknown as Fields;

export const shareUpstreamSchema = closed(fields);
export type ShareUpstreamAnswer = Static<typeof shareUpstreamSchema>;

/** Body of PUT and PATCH. An absent field gets its default, or keeps its value. */
export const shareUpstreamChangeSchema = closed(Part.optional(fields));
