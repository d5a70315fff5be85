#!/usr/bin/env node
// `frontdoor-agent …` is `frontdoor agent …`.
import process from 'node:process';

process.argv.splice(2, 0, 'agent');
await import('./frontdoor.js');
