#!/usr/bin/env node
// `frontdoor-agent …` is `frontdoor agent …`; both print the version by the same options.
import process from 'node:process';

if (!['--version', '-V'].includes(process.argv[2] ?? '')) process.argv.splice(2, 0, 'agent');
await import('./frontdoor.js');
