// The rows of the HTTP front door, and those between two tenants (A19: names after their end, A20: wrong credentials), in
// their quick form, over one running product.
import { describe } from 'node:test';
import { ANSWER_ROW } from './answer-row.ts';
import { CLOSING_SERVICE_ROW } from './closing-service-row.ts';
import { FRAMING_ROW } from './framing-row.ts';
import { HOP_ROW } from './hop-row.ts';
import { HOST_ROW } from './host-row.ts';
import { IDENTITY_ROW } from './identity-row.ts';
import { ISOLATION_ROW } from './isolation-row.ts';
import { PATH_ROW } from './path-row.ts';
import { RESTING_NAME_ROW } from './resting-name-row.ts';
import { testRows, useProduct } from './row-suite.ts';
import { WRONG_CREDENTIAL_ROW } from './wrong-credential-row.ts';

const product = useProduct();

describe('the HTTP front door', () => {
  const heads = [FRAMING_ROW, HOST_ROW, PATH_ROW, IDENTITY_ROW, HOP_ROW];
  testRows([...heads, ANSWER_ROW, ISOLATION_ROW, CLOSING_SERVICE_ROW], product);
});

describe('between tenants', () => {
  testRows([RESTING_NAME_ROW, WRONG_CREDENTIAL_ROW], product);
});
