import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { Command } from 'commander';
import { addDatabaseOptions, DATABASE_VARIABLE, type DatabaseOptions } from './database-option.ts';

const URL_GIVEN = 'postgres://u:canary-of-option@h/d';

function command(): Command {
  return addDatabaseOptions(new Command('control'))
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
}

describe('the options of the database', () => {
  afterEach(() => delete process.env[DATABASE_VARIABLE]);

  it('come from the command line, the environment or a file', () => {
    const parsed = (...args: string[]): object => {
      const { database, ...rest } = command().parse(args, { from: 'user' }).opts<DatabaseOptions>();
      return { ...rest, ...(database === undefined ? {} : { database: database.reveal() }) };
    };
    assert.deepEqual(parsed(), {});
    assert.deepEqual(parsed('--database', URL_GIVEN), { database: URL_GIVEN });
    assert.deepEqual(parsed('--database-file', '/etc/url'), { databaseFile: '/etc/url' });
    process.env[DATABASE_VARIABLE] = URL_GIVEN;
    assert.deepEqual(parsed(), { database: URL_GIVEN });
    assert.deepEqual(parsed('--database', 'postgres://other'), { database: 'postgres://other' });
  });

  it('are refused together, without showing the URL', () => {
    process.env[DATABASE_VARIABLE] = URL_GIVEN;
    assert.throws(
      () => command().parse(['--database-file', '/etc/url'], { from: 'user' }),
      (error: Error) => {
        assert.match(error.message, /--database-file.*cannot be used with/);
        assert.ok(!error.message.includes('canary'));
        return true;
      },
    );
  });

  it('name in their help the safe places for a password, and never show one', () => {
    process.env[DATABASE_VARIABLE] = URL_GIVEN;
    const help = command().helpInformation().replaceAll(/\s+/g, ' ');
    assert.match(help, /Other users can see arguments/);
    assert.match(help, new RegExp(DATABASE_VARIABLE));
    assert.ok(!help.includes('canary'));
  });
});
