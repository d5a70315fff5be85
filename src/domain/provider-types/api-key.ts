/** Auth providers of type API_KEY: keys of programs, which gateways verify by themselves. */
import type { ProviderDataSchema, ProviderType } from './provider-type.ts';

const schema: ProviderDataSchema = {
  title: 'API key',
  type: 'object',
  required: ['placement', 'keys'],
  properties: {
    placement: {
      type: 'string',
      description: 'Where callers put their key; bearer is the Authorization header and has no name',
      enum: ['header', 'query', 'bearer'],
    },
    name: {
      type: 'string',
      description: 'The name of the header or query parameter',
      title: 'parameter name (1 to 100 visible ASCII characters)',
      pattern: '^[!-~]{1,100}$',
    },
    keys: {
      type: 'array',
      description: 'The keys that are admitted. No two have the same name or the same value',
      minItems: 1,
      maxItems: 1_000,
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: {
            type: 'string',
            title: 'key name (1 to 100 characters, no control characters)',
            description: 'Whose key it is',
            pattern: String.raw`^[^\u0000-\u001f\u007f-\u009f\ud800-\udfff]{1,100}$`,
          },
          key: {
            type: 'string',
            writeOnly: true,
            description:
              'Made by the service when it is not given; shown as ******** once it is stored; sending ******** back keeps the key of this name',
            title: 'key (16 to 300 visible ASCII characters)',
            pattern: String.raw`^(?:\*{8}|[!-~]{16,300})$`,
          },
          expiresAt: { type: 'string', format: 'date-time', description: 'From when on it is refused' },
          lastUsedAt: { readOnly: true, description: 'When it was last admitted; ignored when sent' },
        },
        additionalProperties: false,
      },
    },
  },
  if: { properties: { placement: { const: 'bearer' } } },
  else: { required: ['name'], properties: { name: { type: 'string' } } },
  allOf: [
    {
      if: { properties: { placement: { enum: ['query', 'bearer'] } } },
      else: {
        properties: {
          name: {
            type: 'string',
            title: "header name (letters, digits and !#$%&'*+.^_`|~-)",
            pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
          },
        },
      },
    },
  ],
  additionalProperties: false,
};

export const apiKey: ProviderType = {
  schema,
  secrets: [],
  protocol: 'keys',
  usesPkce: () => false,
  metadata: () => undefined,
  prompt: () => undefined,
  texts: {
    displayName: { en: 'API key', de: 'API-Schlüssel' },
    description: {
      en: 'Admits callers that send one of the keys in a header, a query parameter or as bearer token',
      de: 'Lässt Aufrufer ein, die einen der Schlüssel in einem Header, einem Abfrageparameter oder als Bearer-Token senden',
    },
    steps: { first: { en: [], de: [] }, redirects: { en: '', de: '' }, last: { en: [], de: [] } },
    fields: {
      placement: {
        label: { en: 'Key location', de: 'Wo der Schlüssel gesendet wird' },
        help: { de: 'bearer ist der Header Authorization und hat keinen Namen.' },
      },
      name: {
        label: { en: 'Header or parameter name', de: 'Name des Headers oder Parameters' },
        help: { de: 'Wie der Header oder der Abfrageparameter heißt.' },
      },
      keys: {
        label: { en: 'Keys', de: 'Schlüssel' },
        help: {
          en: 'Requests with one of these keys are allowed. Each key needs a unique name.',
          de: 'Die Schlüssel, die eingelassen werden; ihre Namen unterscheiden sich.',
        },
      },
      'keys.name': { label: { en: 'Name', de: 'Name' }, help: { de: 'Wessen Schlüssel es ist.' } },
      'keys.key': { label: { en: 'Key', de: 'Schlüssel' } },
      'keys.expiresAt': {
        label: { en: 'Expires', de: 'Läuft ab' },
        help: { de: 'Ab wann er abgewiesen wird.' },
      },
      'keys.lastUsedAt': { label: { en: 'Last used', de: 'Zuletzt verwendet' } },
    },
  },
  example: { placement: 'header', name: 'X-Api-Key', keys: [{ name: 'ci' }] },
};
