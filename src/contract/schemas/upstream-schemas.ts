/** Schemas of how requests of a share reach its service. The fields are those of `#domain/upstream`. */
import type { Static } from 'typebox';
import { Part } from '#base/shapes';
import { shareUpstreamFields } from '#domain/upstream';
import { closed } from '../schema-parts.ts';

export const shareUpstreamSchema = closed(shareUpstreamFields);
export type ShareUpstreamAnswer = Static<typeof shareUpstreamSchema>;

/** Body of PUT and PATCH. An absent field gets its default, or keeps its value. */
export const shareUpstreamChangeSchema = closed(Part.optional(shareUpstreamFields));
