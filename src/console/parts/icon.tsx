/** The few signs of the console, drawn here: packages of signs have thousands of files. */
import type { ReactNode } from 'react';

const PATHS = {
  check: 'M3 8.5l3.2 3.2L13 5',
  warning: 'M8 2.2l6.3 11.3H1.7L8 2.2zM8 6.5v3.2M8 11.6v.2',
  cross: 'M4 4l8 8M12 4l-8 8',
  dash: 'M3.5 8h9',
  clock: 'M8 1.8a6.2 6.2 0 100 12.4A6.2 6.2 0 008 1.8zM8 4.6V8l2.4 1.6',
  copy: 'M5.5 5.5h8v8h-8zM2.5 10.5v-8h8',
  open: 'M6 3H3v10h10v-3M9 2.5h4.5V7M13.2 2.8L7.5 8.5',
  menu: 'M2 4h12M2 8h12M2 12h12',
  search: 'M7 2.5a4.5 4.5 0 100 9 4.5 4.5 0 000-9zM10.4 10.4L14 14',
  more: 'M3.5 8h.1M8 8h.1M12.5 8h.1',
  plus: 'M8 3v10M3 8h10',
  up: 'M8 13V3M4 7l4-4 4 4',
  down: 'M8 3v10M4 9l4 4 4-4',
  pause: 'M5.5 3v10M10.5 3v10',
  play: 'M4.5 3l8 5-8 5z',
  arrow: 'M3 8h10M9 4l4 4-4 4',
  bell: 'M8 2.2a4 4 0 014 4v3l1.4 2.6H2.6L4 9.2v-3a4 4 0 014-4zM6.6 14h2.8',
  person: 'M8 2.2a2.8 2.8 0 110 5.6 2.8 2.8 0 010-5.6zM2.5 14c.6-3 2.8-4.4 5.5-4.4s4.9 1.4 5.5 4.4',
} as const;

export type IconName = keyof typeof PATHS;
export const ICON_NAMES = Object.keys(PATHS) as readonly IconName[];

/** A sign of 16 by 16 pixels in the colour of the text. It is decoration: the text beside it, or a label, names the thing. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }): ReactNode {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
