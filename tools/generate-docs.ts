/**
 * `frontdoor dev docs`: writes docs/reference/ from the tables that the product works by. A test fails when a page is
 * stale, so nobody edits them by hand. A further page is a further row here.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument } from '#contract';
import { fileJsonSchema, frontdoorFileSchema } from '#contract/schemas';
import { routerSchemaText } from '#router/config';
import { commandLinePage } from './generate-docs-command-line.ts';
import { configurationPage, configurationSchemaText } from './generate-docs-configuration.ts';
import { configurationExample } from './generate-docs-configuration-example.ts';
import { errorsPage } from './generate-docs-errors.ts';
import { managementApiPage } from './generate-docs-management-api.ts';
import { providerTypesPage } from './generate-docs-provider-types.ts';
import { routerConfigurationPage } from './generate-docs-router.ts';
import { routerExample } from './generate-docs-router-example.ts';
import { repositoryRoot } from './pinned-process.ts';

export interface ReferencePage {
  readonly name: string;
  readonly render: () => string | Promise<string>;
}

const FOLDER = 'docs/reference';
/** A placeholder, which readers replace by their own address. */
const EXAMPLE_ADDRESS = 'https://frontdoor.example';

export const referencePages: readonly ReferencePage[] = [
  { name: 'auth-provider-types.md', render: providerTypesPage },
  { name: 'command-line.md', render: commandLinePage },
  { name: 'configuration.example.yml', render: configurationExample },
  { name: 'configuration.md', render: configurationPage },
  { name: 'configuration.schema.json', render: configurationSchemaText },
  { name: 'errors.md', render: errorsPage },
  {
    name: 'frontdoor.schema.json',
    render: () =>
      `${JSON.stringify(fileJsonSchema(frontdoorFileSchema, 'File of frontdoor apply'), undefined, 2)}\n`,
  },
  { name: 'management-api.md', render: managementApiPage },
  {
    name: 'openapi.json',
    render: () => {
      const document = openApiDocument({ baseUrl: EXAMPLE_ADDRESS, authUrl: EXAMPLE_ADDRESS });
      return `${JSON.stringify(document, undefined, 2)}\n`;
    },
  },
  { name: 'router-configuration.md', render: routerConfigurationPage },
  { name: 'router.example.yml', render: routerExample },
  { name: 'router.schema.json', render: routerSchemaText },
];

/** Whether the committed page differs from what the tables generate now. */
export async function isStale({ name, render }: ReferencePage): Promise<boolean> {
  return committed(name) !== (await render());
}

/** Writes the stale pages. Returns the exit status: 0, or 2 when arguments are given. */
export async function runDocs(args: readonly string[]): Promise<number> {
  if (args.length > 0) {
    process.stderr.write('docs: takes no arguments\n');
    return 2;
  }
  mkdirSync(join(repositoryRoot, FOLDER), { recursive: true });
  for (const page of referencePages) {
    const path = `${FOLDER}/${page.name}`;
    const wasStale = await isStale(page);
    if (wasStale) writeFileSync(join(repositoryRoot, path), await page.render());
    process.stdout.write(`${wasStale ? 'written ' : 'as it is'} ${path}\n`);
  }
  return 0;
}

function committed(name: string): string | undefined {
  try {
    return readFileSync(join(repositoryRoot, FOLDER, name), 'utf8');
  } catch {
    return undefined;
  }
}
