(defsystem #:static-vectors :components ((:file "static-vectors")))
