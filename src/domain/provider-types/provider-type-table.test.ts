// Each row is whole: what other parts derive from it needs all of it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AUTH_PROVIDER_TYPES,
  LOGIN_TYPES_TEXT,
  PROVIDER_TYPES,
  provesPeople,
} from './provider-type-table.ts';
import type { ProviderDataSchema } from './provider-type.ts';

type Properties = ProviderDataSchema['properties'];

/** Paths of the properties as the texts name them: those of the items of a list are below its name. */
function pathsOf(properties: Properties, prefix = ''): string[] {
  return Object.entries(properties).flatMap(([name, property]) => {
    const items = property['items'] as { readonly properties?: Properties } | undefined;
    return [`${prefix}${name}`, ...pathsOf(items?.properties ?? {}, `${prefix}${name}.`)];
  });
}

describe('the types of auth providers', () => {
  for (const type of AUTH_PROVIDER_TYPES) {
    const row = PROVIDER_TYPES[type];
    it(`have a label for each property of ${type}, and no other`, () => {
      assert.deepEqual(Object.keys(row.texts.fields).sort(), pathsOf(row.schema.properties).sort());
    });

    it(`store every secret of ${type} encrypted, apart from keys`, () => {
      const { properties } = row.schema;
      const writeOnly = Object.keys(properties).filter((name) => properties[name]?.['writeOnly'] === true);
      assert.deepEqual(row.secrets, writeOnly);
    });

    it(`describe the steps at the provider before and after a ${type} provider is created, if people log in with it`, () => {
      const { steps, guides = {} } = row.texts;
      for (const { first, redirects, last } of [steps, ...Object.values(guides).map((each) => each.steps)]) {
        const texts = [first.en, first.de, redirects.en, redirects.de, last.en, last.de];
        assert.deepEqual(new Set(texts.map(({ length }) => length > 0)), new Set([provesPeople(type)]));
        assert.deepEqual([first.en.length, last.en.length], [first.de.length, last.de.length]);
      }
    });

    it(`have the rules of OpenID Connect for ${type} where the protocol is that`, () => {
      assert.equal(row.openId !== undefined, row.protocol === 'openid');
      assert.equal(row.metadata(row.example) !== undefined, row.protocol === 'openid');
    });
  }

  it('are named in texts where people must be able to log in', () => {
    assert.match(LOGIN_TYPES_TEXT, /^OIDC, GOOGLE.* or [A-Z]+$/);
    assert.equal(LOGIN_TYPES_TEXT.includes('API_KEY'), false);
  });
});
