// RTCPeerConnection for a WebKit build that has none: the surface the client uses, its media and
// data over one WebSocket to gateway.py, which speaks real WebRTC to the server under test. The
// sound also goes to ctx.destination: WebKitGTK 2.50 plays a microphone's stream in <audio>, but
// not a MediaStreamDestination's.
window.RTCPeerConnection = class extends EventTarget {
  #socket = new WebSocket(`ws://${location.host}/__rtc`);
  #opened = new Promise((done) => { this.#socket.onopen = done; });
  #waiting = [];
  #channels = {};
  #track = null;
  #context = null;
  #destination = null;
  #playAt = 0;
  #stats = { packetsReceived: 0, bytesReceived: 0, packetsLost: 0, totalSamplesDuration: 0 };
  connectionState = 'new';
  iceConnectionState = 'new';
  iceGatheringState = 'complete';
  signalingState = 'stable';
  localDescription = null;

  constructor() {
    super();
    this.#socket.binaryType = 'arraybuffer';
    this.#socket.onmessage = ({ data }) =>
      typeof data === 'string' ? this.#message(JSON.parse(data)) : this.#play(new Int16Array(data));
  }

  #fire(type, fields = {}) {
    const event = Object.assign(new Event(type), fields);
    this['on' + type]?.(event);
    this.dispatchEvent(event);
  }

  #message(m) {
    if (m.op === 'sdp') return this.#waiting.shift()(m);
    if (m.op === 'state') {
      this.connectionState = this.iceConnectionState = m.state;
      this.#fire('connectionstatechange');
      this.#fire('iceconnectionstatechange');
      if (m.state === 'connected') this.#capture();
      return;
    }
    const channel = this.#channels[m.label];
    if (m.op === 'open') { channel.readyState = 'open'; channel.fire('open'); }
    if (m.op === 'close') { channel.readyState = 'closed'; channel.fire('close'); }
    if (m.op === 'text') channel.fire('message', { data: m.data });
  }

  async createOffer() {
    await this.#opened;
    return new Promise((done) => {
      this.#waiting.push(done);
      this.#socket.send(JSON.stringify({ op: 'offer', labels: Object.keys(this.#channels) }));
    });
  }

  addTrack(track) {
    this.#track = track;
    return { track, replaceTrack: async (next) => { this.#track = next; this.#capture(); } };
  }
  addTransceiver(track) { return { sender: this.addTrack(track), receiver: {} }; }
  getSenders() { return this.#track ? [this.addTrack(this.#track)] : []; }
  getTransceivers() { return []; }

  createDataChannel(label) {
    const socket = this.#socket;
    return this.#channels[label] = Object.assign(new EventTarget(), {
      label, readyState: 'connecting', binaryType: 'arraybuffer', bufferedAmount: 0,
      send(data) { socket.send(JSON.stringify({ op: 'text', label, data })); },
      close() { this.readyState = 'closed'; },
      fire(type, fields = {}) {
        const event = Object.assign(new Event(type), fields);
        this['on' + type]?.(event);
        this.dispatchEvent(event);
      },
    });
  }

  async setLocalDescription(description) {
    this.localDescription = description ?? await this.createOffer();
  }

  async setRemoteDescription(description) {
    await this.#opened;
    this.#socket.send(JSON.stringify({ op: 'answer', sdp: description.sdp }));
    this.#context = new AudioContext({ sampleRate: 48000 });
    this.#destination = this.#context.createMediaStreamDestination();
    const stream = this.#destination.stream;
    this.#fire('track', { track: stream.getAudioTracks()[0], streams: [stream], transceiver: {} });
  }

  #capture() {
    if (!this.#track || !this.#context) return;
    const source = this.#context.createMediaStreamSource(new MediaStream([this.#track]));
    const tap = this.#context.createScriptProcessor(1024, 1, 1);
    tap.onaudioprocess = (event) => {
      if (this.connectionState !== 'connected') return;
      const samples = event.inputBuffer.getChannelData(0);
      this.#socket.send(Int16Array.from(samples, (v) => v * 32767));
    };
    source.connect(tap).connect(this.#context.destination);
    this.tap = tap; // kept: a collected node stops capturing
  }

  #play(samples) {
    if (!this.#context) return;
    if (this.#context.state !== 'running') void this.#context.resume();
    this.#stats.packetsReceived += 1;
    this.#stats.bytesReceived += samples.byteLength;
    this.#stats.totalSamplesDuration += samples.length / 48000;
    const buffer = this.#context.createBuffer(1, samples.length, 48000);
    const out = buffer.getChannelData(0);
    for (let i = 0; i < samples.length; i += 1) out[i] = samples[i] / 32768;
    const node = this.#context.createBufferSource();
    node.buffer = buffer;
    node.connect(this.#destination);
    node.connect(this.#context.destination);
    this.#playAt = Math.max(this.#playAt, this.#context.currentTime + 0.06);
    node.start(this.#playAt);
    this.#playAt += buffer.duration;
  }

  async getStats() {
    return new Map([['in', { type: 'inbound-rtp', kind: 'audio', ...this.#stats }]]);
  }

  close() {
    this.connectionState = 'closed';
    this.#socket.close();
    void this.#context?.close();
  }
};
