// Imports of names from a gathering module become imports of their own modules.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { directed } from './direct-imports.ts';

const MODULES = new Map([
  ['Button', '/m/Button.mjs'],
  ['Group', '/m/Group.mjs'],
]);
const after = (source: string): string => directed(source, 'widgets', MODULES);

describe('direct imports', () => {
  it('name the module of each value, and leave types out', () => {
    assert.equal(
      after("import { Button, type ButtonProps, Group as Row } from 'widgets';"),
      'import { Button } from "/m/Button.mjs"; import { Group as Row } from "/m/Group.mjs";',
    );
    assert.equal(after("import { type ButtonProps } from 'widgets';"), '');
  });

  it('leave what they do not know, and the number of lines', () => {
    assert.equal(after("import { unknown } from 'widgets';"), "import { unknown } from 'widgets';");
    assert.equal(after("import { Button } from 'others';"), "import { Button } from 'others';");
    assert.equal(
      after("import {\n  Button,\n} from 'widgets';\nx"),
      'import { Button } from "/m/Button.mjs";\n\n\nx',
    );
  });
});
