import { constants, crc32, deflateRawSync } from "node:zlib";

/**
 * Frames for many clients, some of which accept gzip. A frame is compressed once, by itself, and the
 * same bytes go to all of them: what a gzip stream consists of may come from anywhere, as long as no
 * piece refers to another. Only its checksum is the client's own.
 */

/** Bytes that are compressed when the first client needs them so. */
export interface SharedFrame {
  plain: Buffer;
  /** A piece of a gzip stream. */
  deflated: () => Buffer;
}

/** Frames are short: a small window costs less and loses nothing. */
const settings = { level: 6, memLevel: 5, finishFlush: constants.Z_SYNC_FLUSH };

export function shareFrame(plain: Buffer): SharedFrame {
  let deflated: Buffer | undefined;
  return { plain, deflated: () => (deflated ??= deflateRawSync(plain, settings)) };
}

/** The gzip stream of one client. */
export interface GzipStream {
  head: Buffer;
  /** The bytes of a frame in this stream. */
  add: (frame: SharedFrame) => Buffer;
  /** The bytes after the last frame. */
  end: () => Buffer;
}

/** Deflate, no name, no time, system unknown. */
const head = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty piece that is the last one. */
const lastPiece = Buffer.from([3, 0]);

export function createGzipStream(): GzipStream {
  let checksum = 0;
  let length = 0;
  return {
    head,
    add: (frame) => {
      checksum = crc32(frame.plain, checksum);
      length += frame.plain.length;
      return frame.deflated();
    },
    end: () => {
      const tail = Buffer.alloc(8);
      tail.writeUInt32LE(checksum, 0);
      tail.writeUInt32LE(length % 2 ** 32, 4);
      return Buffer.concat([lastPiece, tail]);
    },
  };
}
