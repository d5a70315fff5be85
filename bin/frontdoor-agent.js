#!/usr/bin/env node
// `frontdoor-agent …` is `frontdoor agent …`; both print the version by the same options, and install services by the same command.
import process from 'node:process';

if (!['--version', '-V', 'service'].includes(process.argv[2] ?? '')) process.argv.splice(2, 0, 'agent');
await import('./frontdoor.js');
