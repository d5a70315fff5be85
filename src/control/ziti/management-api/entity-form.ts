/** What the routes know of a kind of entity: its fields, what they refer to, and its form in answers. */
import { textsOf } from '#base';
import { isoTime } from '../client-api/service-view.ts';
import type { QuerySymbols } from '../query/query-symbol.ts';
import type { EdgeEntityKind, EdgeEntityRecord, JsonObject, OverlayModel } from '../../overlay/model/mod.ts';
import type { EntityBody } from './body-reader.ts';

export interface Reference {
  readonly field: string;
  readonly kind: EdgeEntityKind;
  readonly ids: readonly string[];
}

export interface EntityForm {
  readonly kind: EdgeEntityKind;
  /** The last part of the path: `service-policies`. */
  readonly path: string;
  /** Other paths with the same entities. Their answers name `path`. */
  readonly aliases?: readonly string[];
  /** Throws for a field that is wrong. */
  readonly read: (body: JsonObject) => EntityBody;
  readonly references: (data: JsonObject) => readonly Reference[];
  readonly symbols: QuerySymbols<EdgeEntityRecord>;
  /** Fields of the answer besides the common ones. */
  readonly view: (model: OverlayModel, entity: EdgeEntityRecord) => JsonObject;
}

export const commonSymbols: QuerySymbols<EdgeEntityRecord> = {
  id: { type: 'text', read: ({ id }) => id },
  name: { type: 'text', read: ({ name }) => name },
  createdAt: { type: 'date', read: ({ createdAtMs }) => createdAtMs },
  updatedAt: { type: 'date', read: ({ updatedAtMs }) => updatedAtMs },
  isSystem: { type: 'boolean', read: () => false },
  tags: { type: 'tags', read: ({ tags }) => tags },
};

export const roleAttributeSymbols: QuerySymbols<EdgeEntityRecord> = {
  ...commonSymbols,
  roleAttributes: { type: 'texts', read: ({ data }) => textsOf(data['roleAttributes']) },
};

export function entityView(
  path: string,
  entity: EdgeEntityRecord,
  links: readonly string[] = [],
): JsonObject {
  const self = `./${path}/${entity.id}`;
  return {
    _links: {
      self: { href: self },
      ...Object.fromEntries(links.map((link) => [link, { href: `${self}/${link}` }])),
    },
    id: entity.id,
    name: entity.name,
    createdAt: isoTime(entity.createdAtMs),
    updatedAt: isoTime(entity.updatedAtMs),
    tags: entity.tags,
  };
}

/** A reference to an entity in the answer of another. */
export function referenceView(path: string, id: string, name: string): JsonObject {
  return { _links: { self: { href: `./${path}/${id}` } }, entity: path, id, name };
}
