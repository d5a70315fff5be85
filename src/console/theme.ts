/** Colours and defaults of the widgets. Every pair of text and ground has a contrast of 4.5 or more (WCAG 2.2 AA). */
import { createTheme, type CSSVariablesResolver, type MantineThemeOverride } from '@mantine/core';

export const theme: MantineThemeOverride = createTheme({
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 8 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  focusRing: 'auto',
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, Menlo, Consolas, monospace',
  headings: { fontWeight: '600', sizes: { h1: { fontSize: '1.5rem' }, h2: { fontSize: '1.15rem' } } },
});

const light = {
  '--mantine-color-dimmed': '#566069',
  '--mantine-color-placeholder': '#6b747d',
  '--mantine-color-error': '#b3261e',
  '--mantine-color-anchor': '#0b57b0',
  '--fd-good': '#0d6b3c',
  '--fd-warn': '#8a4b00',
  '--fd-bad': '#a8201a',
  '--fd-soft': '#566069',
  '--fd-panel': '#ffffff',
  '--fd-page': '#f5f7f9',
  '--fd-line': '#d5dbe1',
};

const dark: typeof light = {
  '--mantine-color-dimmed': '#a6afbb',
  '--mantine-color-placeholder': '#98a1ad',
  '--mantine-color-error': '#ff9c94',
  '--mantine-color-anchor': '#8abfff',
  '--fd-good': '#6fdca0',
  '--fd-warn': '#ffc46b',
  '--fd-bad': '#ff9c94',
  '--fd-soft': '#a6afbb',
  '--fd-panel': '#1c2128',
  '--fd-page': '#14171c',
  '--fd-line': '#3a424c',
};

export const cssVariables: CSSVariablesResolver = () => ({ variables: {}, light, dark });
