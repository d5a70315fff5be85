/** A body that an operation accepts, for examples: its required fields, or the first that may be changed. */
import type { TSchema } from 'typebox';
import type { stringFormats } from './format-table.ts';
import { propertiesOf, type Json } from './openapi-schemas.ts';

const EXAMPLE_ID = '5b0c2a3e-6f0f-4a5e-9d53-0f2f6d1c7a10';

const TEXTS: Readonly<Record<keyof typeof stringFormats, string>> = {
  uuid: EXAMPLE_ID,
  name: 'Example',
  'share-name': 'example',
  'share-target': 'http://localhost:3000',
  'service-name': 'database',
  'terminator-address': 'tcp:127.0.0.1:5432',
  uri: 'https://idp.example.com',
  'date-time': '2030-01-01T00:00:00Z',
  span: 'PT1H',
  'email-pattern': '*@example.com',
  'ip-network': '192.0.2.0/24',
  'ip-address': '192.0.2.7',
  'path-pattern': '/health',
  'basic-user': 'ann',
  'certificate-name': '*@example.com',
  'certificate-pem': '-----BEGIN CERTIFICATE-----…',
  'web-origin': 'https://app.example.com',
  contact: 'owner@example.com',
  'zone-name': 'apps.example.com',
};

export function exampleBodyOf(schema: TSchema): unknown {
  const { type, enum: values, examples, format, items, required } = schema as Json;
  if (Array.isArray(examples)) return examples[0];
  if (Array.isArray(values)) return values[0];
  switch (Array.isArray(type) ? type[0] : type) {
    case 'object': {
      const writable = Object.entries(propertiesOf(schema)).filter(
        ([, field]) => (field as Json)['readOnly'] !== true,
      );
      const asked = writable.filter(([name]) => ((required ?? []) as readonly string[]).includes(name));
      const shown = asked.length === 0 ? writable.slice(0, 1) : asked;
      return Object.fromEntries(shown.map(([name, field]) => [name, exampleBodyOf(field)]));
    }
    case 'array':
      return [exampleBodyOf(items as TSchema)];
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return 1;
    default:
      return typeof format === 'string' ? (TEXTS[format as keyof typeof stringFormats] ?? '…') : EXAMPLE_ID;
  }
}
