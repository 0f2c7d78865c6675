// Which browser this is, as far as the way out of a blocked microphone depends on it. Pure.
import { S } from './strings.ts';

export type Family = 'in-app' | 'ios-safari' | 'ios-other' | 'mac-safari' | 'android' | 'firefox' | 'chromium' | 'other';

const IN_APP = /FBAN|FBAV|FB_IAB|Instagram|Line\/|MicroMessenger|Snapchat|TikTok|musical_ly|BytedanceWebview|LinkedInApp|Pinterest|GSA\/|Twitter for|; wv\)/;

export function familyOf(userAgent: string, touchPoints = 0): Family {
  const ios = /iPhone|iPad|iPod/.test(userAgent) || (/Macintosh/.test(userAgent) && touchPoints > 1);
  if (IN_APP.test(userAgent) && !(ios && /GSA\//.test(userAgent))) return 'in-app';
  if (ios && !/Safari\//.test(userAgent)) return 'in-app';
  if (ios) return /CriOS|FxiOS|EdgiOS|OPT\/|GSA\/|DuckDuckGo/.test(userAgent) ? 'ios-other' : 'ios-safari';
  if (/Firefox\//.test(userAgent)) return 'firefox';
  if (/Android/.test(userAgent)) return 'android';
  if (/Chrome\/|Chromium\//.test(userAgent)) return 'chromium';
  return /Safari\//.test(userAgent) ? 'mac-safari' : 'other';
}

const WAY_OUT: Record<Family, string> = {
  'in-app': S.micDeniedInApp,
  'ios-safari': S.micDeniedIosSafari,
  'ios-other': S.micDeniedIosOther,
  'mac-safari': S.micDeniedSafari,
  android: S.micDeniedAndroid,
  firefox: S.micDeniedFirefox,
  chromium: S.micDeniedChromium,
  other: S.micDenied,
};

export const deniedText = (family: Family): string => WAY_OUT[family];

/** Whether a microphone is a wireless headset, by what systems call them. */
export const isBluetooth = (label: string): boolean =>
  /bluetooth|airpods|hands-?free|headset \(|buds|\bWH-|\bWF-|jabra|beats/i.test(label);
