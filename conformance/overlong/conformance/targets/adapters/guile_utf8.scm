;; Adapter for Guile's decoders: NAME is utf8->string, or port: a port's reading of its octets.
(use-modules (rnrs bytevectors) (ice-9 binary-ports) (ice-9 iconv) (srfi srfi-9))

;; An answer: a status, a number (output units, or an index), octets of output.
(define-record-type answer (make-answer status number output) answer? (status status) (number number) (output output))
(define not-said #xFFFFFFFF)
(define nothing (make-bytevector 0))

(define (accepted text)
  (make-answer #\A (string-length text) (units text)))

(define (refused index)
  (make-answer #\R index nothing))

(define (failed key arguments)
  (let* ((text (format #f "~s ~s" key arguments))
         (ascii (string-map (lambda (each) (if (char<=? #\space each #\~) each #\?)) text)))
    (let ((octets (string->bytevector (string-take ascii (min 200 (string-length ascii))) "ASCII")))
      (make-answer #\X (bytevector-length octets) octets))))

;; Its characters as UTF-32.
(define (units text)
  (let* ((size (string-length text)) (output (make-bytevector (* 4 size))))
    (do ((place 0 (1+ place))) ((= place size) output)
      (bytevector-u32-set! output (* 4 place) (char->integer (string-ref text place)) (endianness big)))))

(define (decoding decode)
  (lambda (octets)
    (catch #t
      (lambda () (accepted (decode octets)))
      (lambda (key . arguments)
        (if (eq? key 'decoding-error) (refused not-said) (failed key arguments))))))

;; Code points as octets; refuses a number that is no character, with its index.
(define (encode payload)
  (let* ((count (quotient (bytevector-length payload) 4)) (text (make-string count)))
    (let next ((place 0))
      (if (= place count)
          (let ((octets (string->utf8 text)))
            (make-answer #\A (bytevector-length octets) octets))
          (let ((point (bytevector-u32-ref payload (* 4 place) (endianness big))))
            (cond ((or (<= #xD800 point #xDFFF) (> point #x10FFFF)) (refused place))
                  (else (string-set! text place (integer->char point)) (next (1+ place)))))))))

(define (port-text strategy)
  (lambda (octets) (bytevector->string octets "UTF-8" strategy)))

(define decoders
  (list (cons "utf8->string" (list (cons #\D (decoding utf8->string)) (cons #\E encode)))
        (cons "port" (list (cons #\L (decoding (port-text 'substitute)))))))

(define (u32 number)
  (let ((octets (make-bytevector 4)))
    (bytevector-u32-set! octets 0 number (endianness big))
    octets))

(define (concatenated parts)
  (let ((whole (make-bytevector (apply + (map bytevector-length parts)))))
    (let next ((parts parts) (place 0))
      (if (null? parts)
          whole
          (let ((size (bytevector-length (car parts))))
            (bytevector-copy! (car parts) 0 whole place size)
            (next (cdr parts) (+ place size)))))))

(define (u8 character)
  (make-bytevector 1 (char->integer character)))

(define (from octets start size)
  (let ((part (make-bytevector size)))
    (bytevector-copy! octets start part 0 size)
    part))

(define (one answer)
  (concatenated (list (u8 (status answer))
                      (if (eqv? (status answer) #\R) (u32 (number answer)) nothing)
                      (output answer))))

(define (batch ask payload)
  (let* ((count (bytevector-u32-ref payload 0 (endianness big)))
         (columns (make-bytevector (* 7 count) 0)))
    (let next ((item 0) (place (* 4 (1+ count))) (outputs '()))
      (if (= item count)
          (concatenated (cons* (u8 #\A) columns (reverse outputs)))
          (let ((size (bytevector-u32-ref payload (* 4 (1+ item)) (endianness big))))
            (let ((found (ask (from payload place size))))
              (bytevector-u8-set! columns item (char->integer (status found)))
              (bytevector-u32-set! columns (+ count (* 4 item)) (number found) (endianness big))
              (when (eqv? (status found) #\R)
                (bytevector-u8-set! columns (+ (* 6 count) item) 255))
              (next (1+ item) (+ place size) (cons (output found) outputs))))))))

(define (respond operations body)
  (let* ((size (bytevector-length body))
         (operation (integer->char (bytevector-u8-ref body 0)))
         (payload (from body 1 (1- size)))
         (ask (assv-ref operations operation)))
    (cond ((eqv? operation #\P) (concatenated (list (u8 #\A) payload)))
          (ask (one (ask payload)))
          ((and (eqv? operation #\B) (assv-ref operations (integer->char (bytevector-u8-ref payload 0))))
           => (lambda (ask) (batch ask (from payload 1 (- size 2)))))
          (else (u8 #\U)))))

(define (serve name operations)
  (let ((in (current-input-port)) (out (current-output-port)))
    (simple-format
     out
     (string-append "{\"overlong\": 1, \"name\": \"guile-~a\", \"version\": \"Guile ~a\", \"language\": \"Scheme\", "
                    "\"operations\": \"PB~a\", \"units\": \"utf-32\"~a}\n")
     name (version) (list->string (map car operations)) (if (string=? name "port") ", \"bom\": \"strips\"" ""))
    (force-output out)
    (let next ()
      (let ((head (get-bytevector-n in 8)))
        (when (and (bytevector? head) (= 8 (bytevector-length head)))
          (let* ((body (get-bytevector-n in (- (bytevector-u32-ref head 0 (endianness big)) 4)))
                 (response (respond operations body)))
            (bytevector-u32-set! head 0 (+ 4 (bytevector-length response)) (endianness big))
            (put-bytevector out head)
            (put-bytevector out response)
            (force-output out)
            (next)))))))

(let* ((name (car (last-pair (command-line)))) (operations (assoc-ref decoders name)))
  (unless operations
    (display "name utf8->string or port\n" (current-error-port))
    (exit 1))
  (serve name operations))
