// Microphones: which there are and which one is wanted. Without a choice no device is named, because headsets
// come and go; a chosen one is only preferred, so that its absence never stops a lesson.
const KEY = 'pidjin.microphone';

export type Microphone = { id: string; label: string };

export const chosenMicrophone = (): string => localStorage.getItem(KEY) ?? '';

export function rememberMicrophone(id: string): void {
  if (id === '') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, id);
}

export const wanted = (basis: MediaTrackConstraints): MediaTrackConstraints => {
  const id = chosenMicrophone();
  return id === '' ? basis : { ...basis, deviceId: { ideal: id } };
};

/** Without permission browsers name none; then the list is empty. */
export async function microphones(): Promise<Microphone[]> {
  const devices = await navigator.mediaDevices.enumerateDevices();
  return devices.filter(({ kind, deviceId }) => kind === 'audioinput' && deviceId !== '' && deviceId !== 'default' && deviceId !== 'communications')
    .map(({ deviceId, label }) => ({ id: deviceId, label }));
}
